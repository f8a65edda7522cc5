// The style sheets of the pages with many live boards, which the others need not load.

const SHEETS = ["../wall.css", "../board/board.css"];

/** @type {Promise<unknown> | null} */
let loading = null;

/** Resolve when the style sheets are there. */
export function useStyles() {
  loading ??= Promise.all(SHEETS.map((name) => load(new URL(name, import.meta.url).href)));
  return loading;
}

/** @param {string} href */
function load(href) {
  if ([...document.styleSheets].some((sheet) => sheet.href === href)) return Promise.resolve();
  return new Promise((resolve, reject) => {
    const link = document.createElement("link");
    link.rel = "stylesheet";
    link.href = href;
    link.onload = () => resolve(undefined);
    link.onerror = () => reject(new Error("a style sheet of this page could not be loaded"));
    document.head.append(link);
  });
}
