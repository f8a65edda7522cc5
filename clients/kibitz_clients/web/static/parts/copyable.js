// A line of text with a button that copies it.

import { h, labelled } from "./dom.js";

/** @typedef {import("../main.js").App} App */

/**
 * @param {string} label
 * @param {string} text
 * @param {App} app
 */
export function copyable(label, text, app) {
  const input = h("input", { readonly: true, value: text, class: "grow", onfocus: () => input.select() });
  const copy = async () => {
    input.select();
    try {
      await navigator.clipboard.writeText(text); // only available with TLS and on localhost
    } catch {
      if (!document.execCommand("copy")) {
        app.say("This browser does not allow copying; the text is selected instead.", "bad");
        return;
      }
    }
    app.say("Copied.", "good");
  };
  const field = labelled(label, input);
  field.append(h("div", { class: "row nowrap" }, input,
    h("button", { type: "button", class: "small", onclick: () => void copy(), "aria-label": `Copy: ${label}` }, "Copy")));
  return field;
}
