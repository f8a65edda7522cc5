// The list of a match's moves, with the bots' comments.

import { seatName } from "../board/describe.js";
import { h } from "./dom.js";
import { commentText, stepText } from "./move_text.js";
import { seatMark } from "./names.js";

/** @typedef {import("./course.js").Course} Course */

export class Moves {
  /** @param {(index: number) => void} go is called with the chosen index */
  constructor(go) {
    this.go = go;
    this.root = h("ol", { class: "moves", "aria-label": "Moves", tabindex: 0 });
    /** @type {Map<number, HTMLElement>} */
    this.items = new Map();
    /** @type {HTMLElement | null} */
    this.current = null;
    this.listed = 0;
    this.root.addEventListener("click", (event) => {
      const item = /** @type {Element} */ (event.target).closest("[data-index]");
      if (item) this.go(Number(item.getAttribute("data-index")));
    });
  }

  clear() {
    this.root.replaceChildren();
    this.items.clear();
    this.current = null;
    this.listed = 0;
  }

  /** Add the steps that are not listed yet. @param {Course} course @param {readonly string[]} names */
  extend(course, names) {
    const made = [];
    for (let at = this.listed; at < course.length; at += 1) {
      const item = this.#item(course, at, names);
      if (item) made.push(item);
    }
    this.listed = course.length;
    this.root.append(...made);
  }

  /** Highlight the move that the board shows. @param {number} index */
  mark(index) {
    this.current?.removeAttribute("aria-current");
    let at = index;
    while (at > 0 && !this.items.has(at)) at -= 1;
    this.current = this.items.get(at) ?? null;
    if (!this.current) {
      this.root.scrollTop = 0;
      return;
    }
    this.current.setAttribute("aria-current", "step");
    const { offsetTop, offsetHeight } = this.current;
    const { scrollTop, clientHeight } = this.root;
    if (offsetTop < scrollTop || offsetTop + offsetHeight > scrollTop + clientHeight) {
      this.root.scrollTop = offsetTop - clientHeight / 2;
    }
  }

  /** @param {Course} course @param {number} at @param {readonly string[]} names */
  #item(course, at, names) {
    const step = course.steps[at];
    const turn = step.ply > course.plyAt(at);
    if (step.entry.kind === "note" || step.entry.kind === "comment") return null;
    const text = stepText(step, turn, names);
    if (!text) return null;
    const seat = step.entry.seat ?? (turn ? course.toActAt(at) : undefined);
    const comment = step.entry.comment ? commentText(step.entry.comment) : "";
    const costly = step.entry.kind === "move"
      && course.analysis?.swings.some(({ ply }) => ply === step.entry.ply);
    const button = h(
      "button", { type: "button", class: "move", "data-index": at + 1 },
      h("span", { class: "ply" }, turn ? step.ply : ""),
      seat === undefined ? null : seatMark(seat),
      seat === undefined ? null : h("span", { class: "visually-hidden" }, seatName(seat, names)),
      h("span", { class: "move-text" }, text),
      costly && h("span", { class: "costly" }, "costly"),
      comment && h("span", { class: "said" }, comment),
    );
    const item = h("li", null, button);
    this.items.set(at + 1, button);
    return item;
  }
}
