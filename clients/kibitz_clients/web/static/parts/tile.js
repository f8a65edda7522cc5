// A tile: a small live board with the names, clocks and status of its match.

import { at } from "./address.js";
import { leftText } from "../wire/clock.js";
import { merge, removes } from "../wire/paint.js";
import { h, fill } from "./dom.js";
import { stoneOf } from "../board/themes.js";
import { counted, seatMark, shortName } from "./names.js";
import { resultText } from "./results.js";

/** @typedef {import("./draw_queue.js").DrawQueue} DrawQueue */
/** @typedef {import("../wire/match.js").MatchModel} MatchModel */
/** @typedef {import("../wire/paint.js").Paint} Paint */
/** @typedef {import("../wire/match.js").Change} Change */

export class Tile {
  /** @type {HTMLElement[]} */
  #rows = [];
  /** The clock elements, each with its seat; null stands for the seat to move.
   * @type {{clock: HTMLElement, seat: number | null}[]} */
  #clocks = [];
  /** @type {readonly string[]} the full names shown */
  #names = [];
  /** @type {readonly ("black" | "white" | number)[]} the marks shown beside them */
  #stones = [];
  /** Whether the whole board must be redrawn. */
  #anew = true;
  /** @type {Paint | null} the changes since it was drawn */
  #paint = null;
  /** The band of rows that the tile belongs to; see `DrawQueue`. */
  band = 0;

  /**
   * @param {MatchModel} model
   * @param {string} title of the game
   * @param {Record<string, string>} endings the game's texts for its reasons
   * @param {DrawQueue} queue
   */
  constructor(model, title, endings, queue) {
    this.model = model;
    this.title = title;
    this.endings = endings;
    this.queue = queue;
    this.board = /** @type {import("../board/board.js").KibitzBoard} */ (
      document.createElement("kibitz-board")
    );
    this.board.setAttribute("compact", "");
    this.people = h("div", { class: "live-seats" });
    this.turnClock = h("span", { class: "live-clock" });
    this.state = h("span", null, title);
    this.element = h(
      "article", { class: "live", "data-match": model.id },
      this.people, h("div", { class: "live-board" }, this.board),
      h("p", { class: "live-state" }, this.turnClock, this.state),
    );
    this.link = h("a", { href: at(`/match/${model.id}`), class: "live-link" });
    this.element.prepend(this.link);
    this.listener = (/** @type {Event} */ event) => {
      this.#follow(/** @type {CustomEvent<Change>} */ (event).detail);
    };
    model.addEventListener("change", this.listener);
    if (model.snapshot) queue.add(this);
    else this.link.setAttribute("aria-label", `${title}, loading`);
  }

  /** Stop following the match. */
  remove() {
    this.model.removeEventListener("change", this.listener);
    this.queue.remove(this);
    this.element.remove();
  }

  /** @param {Change} change */
  #follow(change) {
    const { why, paint } = change;
    if (why === "snapshot" || why === "finished" || (paint && removes(paint))) this.#anew = true;
    else if (paint) this.#paint = this.#paint ? merge(this.#paint, paint) : paint;
    this.queue.add(this);
  }

  /** Draw the changes since the last drawing. */
  draw() {
    if (this.#anew || !this.board.stage) {
      if (this.model.stage) this.board.stage = this.model.stage;
    } else if (this.#paint) {
      this.board.paint(this.#paint, { animate: false });
    }
    const others = this.#anew || this.#paint?.colours !== undefined;
    this.#anew = false;
    this.#paint = null;
    this.#drawSeats(others);
    this.#drawState();
  }

  /** @param {boolean} others whether the colors of the seats' stones may have changed */
  #drawSeats(others) {
    const { seats, toAct, result } = this.model;
    const stones = others ? this.#stonesOf(seats) : this.#stones;
    if (!same(seats, this.#names) || !same(stones, this.#stones)) this.#nameSeats(seats, stones);
    for (const [seat, row] of this.#rows.entries()) {
      row.classList.toggle("is-to-act", !result && seat === toAct);
      row.classList.toggle("is-winner", result?.seats[seat]?.rank === 1);
      row.classList.toggle("is-away", !result && this.model.away.has(seat));
    }
    const clocks = this.#clockTexts();
    for (const [index, { clock }] of this.#clocks.entries()) {
      if (clock.textContent !== clocks[index]) clock.textContent = clocks[index];
    }
  }

  /**
   * Return the piece of each seat: a stone in some color, or the seat's own piece.
   * @param {readonly string[]} seats
   */
  #stonesOf(seats) {
    const stage = this.board.stage;
    const stones = stage && Object.values(stage.cells).some((cell) => cell.kind === "point");
    return seats.map((_, seat) => (stones ? stoneOf(stage, seat) : seat));
  }

  /** @param {readonly string[]} names @param {readonly ("black" | "white" | number)[]} stones */
  #nameSeats(names, stones) {
    this.#names = names;
    this.#stones = stones;
    const two = names.length === 2;
    const clocks = two ? names.map(() => h("span", { class: "live-clock" })) : [];
    this.#rows = names.map((name, seat) => h(
      "div", { class: "live-seat" },
      seatMark(seat, stones[seat]), shortName(name), clocks[seat],
    ));
    // With more than two players there is room for one clock: that of the seat to move.
    this.#clocks = two
      ? clocks.map((clock, seat) => ({ clock, seat })) : [{ clock: this.turnClock, seat: null }];
    if (two) this.turnClock.textContent = "";
    fill(this.people, this.#rows);
    this.people.dataset.seats = String(names.length);
    const label = `${this.title}: ${names.join(" against ")}`;
    this.link.setAttribute("aria-label", label);
    this.link.title = label;
    this.board.setAttribute("label", label);
  }

  /** Advance the clocks; queue a drawing if a reading changed. */
  tick() {
    const clocks = this.#clockTexts();
    if (this.#clocks.some(({ clock }, index) => clock.textContent !== clocks[index])) this.queue.add(this);
  }

  #clockTexts() {
    const now = performance.now();
    const { result, toAct } = this.model;
    return this.#clocks.map(({ seat }) => {
      if (seat === null && result) return "";
      const left = this.model.leftMs(seat ?? toAct, now);
      return left === null ? "" : leftText(left);
    });
  }

  #drawState() {
    const { result, ply } = this.model;
    const text = result
      ? resultText(result, this.model.seats, this.endings)
      : `${this.title} · ${counted(ply, "move")}`;
    if (this.state.textContent !== text) this.state.textContent = text;
    this.element.classList.toggle("is-over", Boolean(result));
  }
}

/** @param {readonly unknown[]} one @param {readonly unknown[]} other */
function same(one, other) {
  return one.length === other.length && one.every((item, index) => item === other[index]);
}
