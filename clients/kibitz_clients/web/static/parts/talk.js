// What people and bots say about a match while it is played, and a line to say something.

import { fill, h } from "./dom.js";

/** @typedef {import("./course.js").Course} Course */

const LONGEST = 300;

export class Talk {
  #shown = -1;

  /** @param {(index: number) => void} go is called with the place that a comment belongs to */
  constructor(go) {
    this.go = go;
    this.list = h("ol");
    this.log = h("div", { class: "talk-log", "aria-label": "Comments", role: "log", tabindex: 0 }, this.list);
    this.root = h("section", { class: "talk", "aria-label": "Kibitzing", hidden: true }, this.log);
  }

  /** Offer a line to say something. @param {(text: string) => Promise<unknown>} say */
  offer(say) {
    const input = h("input", {
      maxlength: LONGEST, "aria-label": "Say something about the match", placeholder: "Say something…",
    });
    const submit = (/** @type {Event} */ event) => {
      event.preventDefault();
      const text = input.value.trim();
      if (text) say(text).then(() => { input.value = ""; }, () => {});
    };
    this.form = h("form", { onsubmit: submit }, input, h("button", null, "Say"));
    this.root.append(this.form);
    this.root.hidden = false;
  }

  /** Nothing more is said. */
  end() {
    this.form?.remove();
    this.form = undefined;
    this.root.hidden = this.#shown <= 0;
  }

  /** @param {Course} course */
  draw(course) {
    const said = [...course.steps.entries()].filter(([, { entry }]) => entry.kind === "comment");
    if (said.length === this.#shown) return;
    this.#shown = said.length;
    this.log.hidden = said.length === 0;
    this.root.hidden = said.length === 0 && !this.form;
    fill(this.list, said.map(([at, { entry, ply }]) => h("li", null,
      h("button", {
        type: "button", class: "quiet small", "aria-label": `Go to ply ${ply}`, onclick: () => this.go(at + 1),
      }, ply),
      h("strong", null, /** @type {{name: string}} */ (entry.author).name), ` ${entry.text ?? ""}`)));
    this.log.scrollTop = this.log.scrollHeight;
  }
}
