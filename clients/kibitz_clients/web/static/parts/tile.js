// A tile: a small live board with the names, clocks and state of its match.

import { leftText } from "../wire/clock.js";
import { merge } from "../wire/merge.js";
import { h, fill } from "./dom.js";
import { counted, seatMark } from "./names.js";
import { resultText } from "./results.js";

/** @typedef {import("./draw_queue.js").DrawQueue} DrawQueue */
/** @typedef {import("../wire/match.js").MatchModel} MatchModel */
/** @typedef {import("../wire/stage.js").Paint} Paint */
/** @typedef {import("../wire/match.js").Change} Change */

export class Tile {
  /** @type {{name: HTMLElement, clock: HTMLElement, row: HTMLElement}[]} */
  #seats = [];
  #names = "";
  /** whether the board is to be drawn as a whole */
  #anew = true;
  /** @type {Paint | null} what has changed since it was drawn */
  #paint = null;
  /** The rows of the grid that it is drawn with. */
  band = 0;

  /**
   * @param {MatchModel} model
   * @param {string} title of the game
   * @param {Record<string, string>} endings how the game says the reasons of its results
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
    this.state = h("p", { class: "live-state" }, title);
    this.element = h(
      "article", { class: "live", "data-match": model.id },
      this.people, h("div", { class: "live-board" }, this.board), this.state,
    );
    this.link = h("a", { href: `/match/${model.id}`, class: "live-link" });
    this.element.prepend(this.link);
    this.listener = (/** @type {Event} */ event) => {
      this.#follow(/** @type {CustomEvent<Change>} */ (event).detail);
    };
    model.addEventListener("change", this.listener);
    if (model.snapshot) queue.add(this);
    else this.link.setAttribute("aria-label", `${title}, coming`);
  }

  /** Leave off following the match. */
  remove() {
    this.model.removeEventListener("change", this.listener);
    this.queue.remove(this);
    this.element.remove();
  }

  /** @param {Change} change */
  #follow(change) {
    if (change.why === "snapshot" || change.why === "finished") this.#anew = true;
    else if (change.paint) this.#paint = this.#paint ? merge(this.#paint, change.paint) : change.paint;
    this.queue.add(this);
  }

  /** Show what has happened since it was drawn last. */
  draw() {
    if (this.#anew || !this.board.stage) {
      if (this.model.stage) this.board.stage = this.model.stage;
    } else if (this.#paint) {
      this.board.paint(this.#paint, { animate: false });
    }
    this.#anew = false;
    this.#paint = null;
    this.#drawSeats();
    this.#drawState();
  }

  #drawSeats() {
    const { players, toAct, result } = this.model;
    const names = players.map((player) => player.name).join("\n");
    if (names !== this.#names) {
      this.#names = names;
      this.#seats = players.map((player, seat) => {
        const name = h("span", { class: "live-name" }, player.name);
        const clock = h("span", { class: "live-clock" });
        return { name, clock, row: h("div", { class: "live-seat" }, seatMark(seat), name, clock) };
      });
      fill(this.people, this.#seats.map((seat) => seat.row));
      this.people.dataset.seats = String(players.length);
      const versus = players.map((player) => player.name).join(" against ");
      const label = `${this.title}: ${versus}`;
      this.link.setAttribute("aria-label", label);
      this.board.setAttribute("label", label);
    }
    for (const [seat, { row }] of this.#seats.entries()) {
      row.classList.toggle("is-to-act", !result && seat === toAct);
      row.classList.toggle("is-winner", result?.seats[seat]?.rank === 1);
      row.classList.toggle("is-away", !result && this.model.away.has(seat));
    }
    const clocks = this.#clockTexts();
    for (const [seat, { clock }] of this.#seats.entries()) {
      if (clock.textContent !== clocks[seat]) clock.textContent = clocks[seat];
    }
  }

  /** Let the clocks go on: be drawn where one of them reads something else. */
  tick() {
    const clocks = this.#clockTexts();
    if (this.#seats.some(({ clock }, seat) => clock.textContent !== clocks[seat])) this.queue.add(this);
  }

  #clockTexts() {
    const now = performance.now();
    return this.#seats.map((_, seat) => {
      const left = this.model.leftMs(seat, now);
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
