// What people and bots say about a match while it is played, and a line to say something.

import { fill, h } from "./dom.js";

/** @typedef {import("../wire/match.js").Kibitz} Kibitz */

const LONGEST = 300;

export class Talk {
  /** @param {(text: string) => Promise<unknown>} say @param {(index: number) => void} goToPly */
  constructor(say, goToPly) {
    this.goToPly = goToPly;
    this.list = h("ol", { "aria-label": "Comments", role: "log", tabindex: 0 });
    this.input = h("input", { maxlength: LONGEST, "aria-label": "Say something about the match", placeholder: "Say something…" });
    this.form = h("form", { onsubmit: (/** @type {Event} */ event) => this.#submit(event, say) },
      this.input, h("button", null, "Say"));
    this.root = h("section", { class: "talk", "aria-label": "Kibitzing" }, this.list, this.form);
    this.shown = 0;
  }

  /** @param {readonly Kibitz[]} comments */
  draw(comments) {
    if (comments.length === this.shown) return;
    this.shown = comments.length;
    fill(this.list, comments.map(({ ply, author, text }) => h("li", null,
      h("button", { type: "button", class: "quiet small", title: `Go to ply ${ply}`, onclick: () => this.goToPly(ply) }, ply),
      h("strong", null, author), ` ${text}`)));
    this.list.scrollTop = this.list.scrollHeight;
  }

  /** @param {Event} event @param {(text: string) => Promise<unknown>} say */
  #submit(event, say) {
    event.preventDefault();
    const text = this.input.value.trim();
    if (!text) return;
    say(text).then(() => { this.input.value = ""; }, () => {});
  }
}
