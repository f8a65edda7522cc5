// Dialogs: a yes-or-no question, and a text to read.

import { h } from "./dom.js";

/**
 * Ask for confirmation of something that cannot be undone. Resolves to true for yes.
 * @param {string} question
 * @param {string} yes the label of the confirm button
 * @returns {Promise<boolean>}
 */
export function ask(question, yes) {
  return new Promise((resolve) => {
    const dialog = h("dialog", { "aria-labelledby": "question" },
      h("p", { id: "question" }, question),
      h("form", { method: "dialog", class: "row" },
        h("button", { value: "no", autofocus: true }, "Cancel"),
        h("button", { value: "yes", class: "danger" }, yes)));
    dialog.addEventListener("close", () => {
      dialog.remove();
      resolve(dialog.returnValue === "yes");
    });
    document.body.append(dialog);
    dialog.showModal();
  });
}

/**
 * Show content until it is closed.
 * @param {string} label
 * @param {Node} content
 */
export function read(label, content) {
  const dialog = h("dialog", { class: "rules", "aria-label": label },
    content,
    h("form", { method: "dialog", class: "row" }, h("button", { value: "close", autofocus: true }, "Close")));
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
  dialog.scrollTop = 0;
}
