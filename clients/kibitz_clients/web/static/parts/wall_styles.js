// Loads the style sheet of pages with many live boards; other pages do not need it.

/** @type {Promise<void> | null} */
let loading = null;

/** Resolve when the style sheet has loaded. */
export function useStyles() {
  loading ??= new Promise((resolve, reject) => {
    const link = document.createElement("link");
    link.rel = "stylesheet";
    link.href = new URL("../wall.css", import.meta.url).href;
    link.onload = () => resolve();
    link.onerror = () => reject(new Error("the style sheet of this page could not be loaded"));
    document.head.append(link);
  });
  return loading;
}
