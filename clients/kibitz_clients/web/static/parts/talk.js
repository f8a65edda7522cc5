// Comments by people and bots on a running match, and an input to add one.

import { fill, h } from "./dom.js";
import { shownName } from "../wire/names.js";

/** @typedef {import("./course.js").Course} Course */
/** @typedef {import("./course.js").Entry} Entry */

const LONGEST = 300;

export class Talk {
  #shown = -1;
  /** The comments that were entered on this page, by entry number. @type {Map<number, string>} */
  #own = new Map();
  /** The course drawn last. @type {Course | null} */
  #course = null;

  /** @param {(index: number) => void} go is called with the index of a comment */
  constructor(go) {
    this.go = go;
    this.list = h("ol");
    this.log = h("div", { class: "talk-log", "aria-label": "Comments", role: "log", tabindex: 0 }, this.list);
    this.root = h("section", { class: "talk", "aria-label": "Kibitzing", hidden: true }, this.log);
  }

  /**
   * Add the input for a comment.
   * @param {(text: string) => Promise<unknown>} say
   */
  offer(say) {
    const input = h("input", {
      maxlength: LONGEST, "aria-label": "Say something about the match", placeholder: "Say something…",
    });
    const submit = (/** @type {Event} */ event) => {
      event.preventDefault();
      const text = input.value.trim();
      if (text) say(text).then((done) => this.#accept(input, text, done), () => {});
    };
    this.form = h("form", { onsubmit: submit }, input, h("button", null, "Say"));
    this.root.append(this.form);
    this.root.hidden = false;
  }

  /** @param {HTMLInputElement} input @param {string} text @param {unknown} done */
  #accept(input, text, done) {
    const { seq } = /** @type {import("../wire/messages.js").Done} */ (done);
    input.value = "";
    this.#own.set(seq ?? 0, text);
    this.#shown = -1;
    if (this.#course) this.draw(this.#course);
  }

  /** Remove the input; hide the section if there are no comments. */
  end() {
    this.form?.remove();
    this.form = undefined;
    this.root.hidden = this.#shown <= 0;
  }

  /** @param {Course} course */
  draw(course) {
    this.#course = course;
    const steps = [...course.steps.entries()];
    const comments = steps.filter(([, { entry }]) => entry.kind === "comment" || this.#isOwn(entry));
    if (comments.length === this.#shown) return;
    this.#shown = comments.length;
    this.log.hidden = comments.length === 0;
    this.root.hidden = comments.length === 0 && !this.form;
    fill(this.list, comments.map(([at, { entry, ply }]) => h("li", null,
      h("button", {
        type: "button", class: "quiet small", "aria-label": `Go to ply ${ply}`, onclick: () => this.go(at + 1),
      }, ply),
      this.#words(entry))));
    this.log.scrollTop = this.log.scrollHeight;
  }

  /**
   * Return whether an entry is a hidden comment that was entered on this page.
   * @param {Entry} entry
   */
  #isOwn(entry) {
    return entry.kind === "hidden" && this.#own.has(entry.seq);
  }

  /** @param {Entry} entry */
  #words(entry) {
    const author = /** @type {{name: string, kind: string} | undefined} */ (entry.author);
    if (author) return [h("strong", null, shownName(author)), ` ${entry.text ?? ""}`];
    return [h("strong", null, "you"), ` ${this.#own.get(entry.seq)} `,
      h("span", { class: "muted" }, "(hidden from others until the match is over)")];
  }
}
