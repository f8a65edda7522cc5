// A grid with as many live boards as fit, all followed with one `wall` request.

import { define } from "../board/board.js";
import { DrawQueue } from "./draw_queue.js";
import { Tile } from "./tile.js";
import { capacity, columns, MOST, WallSlots } from "./wall_slots.js";

/** @typedef {import("../main.js").App} App */
/** @typedef {import("../wire/match.js").Change} Change */
/** @typedef {import("./wall_slots.js").Candidate} Candidate */
/** @typedef {import("../wire/messages.js").Walled} Walled */

/**
 * The number of bands that the rows are divided into. Boards and clocks are drawn one band at a
 * time.
 */
const BANDS = 5;
const TICK_MS = 50;

export class BoardGrid extends EventTarget {
  #slots = new WallSlots();
  #queue = new DrawQueue();
  /** @type {Map<string, Tile>} */
  #tiles = new Map();
  /** @type {Set<string>} matches that cannot be watched */
  #refused = new Set();
  /** @type {Candidate[]} */
  #running = [];
  /** the shorter side of a tile in CSS pixels */
  #side = 0;
  #asked = "";
  #beat = 0;
  #asking = false;
  #ends = new AbortController();

  /**
   * @param {HTMLElement} element is filled with boards
   * @param {App} app
   */
  constructor(element, app) {
    super();
    define();
    this.element = element;
    this.app = app;
    element.classList.add("board-grid");
    this.sizes = new ResizeObserver(() => this.#update());
    this.sizes.observe(element);
    this.timer = setInterval(() => this.#tick(), TICK_MS);
    app.connection.addEventListener(
      "welcome", () => { this.#asked = ""; void this.#ask(); }, { signal: this.#ends.signal },
    );
  }

  /** The number of boards shown. */
  get count() {
    return this.#tiles.size;
  }

  /**
   * Set the running matches, in order of priority.
   * @param {Candidate[]} running
   */
  show(running) {
    this.#running = running;
    const known = new Set(running.map((match) => match.match));
    for (const match of this.#slots.matches) {
      // A match that disappeared without a final message, such as a void one.
      if (!known.has(match)) this.#slots.end(match, performance.now());
    }
    this.#update();
  }

  /** Stop watching. */
  close() {
    this.#ends.abort();
    clearInterval(this.timer);
    this.sizes.disconnect();
    for (const match of [...this.#tiles.keys()]) this.#remove(match);
    this.app.connection.request({ type: "wall", matches: [] }).catch(() => {});
  }

  #tick() {
    this.#beat = (this.#beat + 1) % BANDS;
    for (const tile of this.#tiles.values()) if (tile.band === this.#beat) tile.tick();
    if (this.#beat === 0) this.#update();
  }

  #update() {
    const { clientWidth: width, clientHeight: height } = this.element;
    if (!width || !height) return;
    const candidates = this.#running.filter((match) => !this.#refused.has(match.match));
    const most = Math.min(MOST, capacity(width, height));
    const changed = this.#slots.update(candidates, most, performance.now());
    if (changed) this.#arrange();
    this.#fit(Math.max(1, this.#slots.slots.length), width, height);
    if (changed) void this.#ask();
  }

  /**
   * Set the number of columns, and the resulting tile size.
   * @param {number} count @param {number} width @param {number} height
   */
  #fit(count, width, height) {
    const across = columns(count, width, height);
    const rows = Math.ceil(count / across);
    const { style } = this.element;
    if (style.getPropertyValue("--across") !== String(across)) style.setProperty("--across", String(across));
    const side = Math.round(Math.min(width / across, height / rows));
    if (side !== this.#side) style.setProperty("--tile", `${side}px`);
    this.#side = side;
    for (const [index, { match }] of this.#slots.slots.entries()) {
      const there = match === null ? undefined : this.#tiles.get(match);
      if (there) there.band = Math.floor((Math.floor(index / across) * BANDS) / rows);
    }
  }

  /** Create, remove and place tiles. */
  #arrange() {
    const shown = new Set(this.#slots.matches);
    for (const match of [...this.#tiles.keys()]) if (!shown.has(match)) this.#remove(match);
    const places = this.#slots.slots.map(({ match }) => {
      if (match === null) return emptyTile();
      return (this.#tiles.get(match) ?? this.#make(match)).element;
    });
    for (const [index, place] of places.entries()) {
      const there = this.element.children[index];
      if (there !== place) this.element.insertBefore(place, there ?? null);
    }
    while (this.element.children.length > places.length) this.element.lastElementChild?.remove();
    this.dispatchEvent(new Event("change"));
  }

  /** @param {string} match */
  #make(match) {
    const model = this.app.matches.open(match, { follow: false });
    const game = this.#slots.games.get(match) ?? "";
    const { games } = this.app;
    const tile = new Tile(model, games.title(game), games.endings(game), this.#queue);
    this.#tiles.set(match, tile);
    const signal = this.#ends.signal;
    model.addEventListener("change", (event) => {
      const { why } = /** @type {CustomEvent<Change>} */ (event).detail;
      const over = why === "finished" || (why === "snapshot" && model.result !== null);
      if (over && this.#tiles.has(match)) {
        this.#slots.end(match, performance.now());
        this.dispatchEvent(new CustomEvent("ended", { detail: model }));
      }
    }, { signal });
    return tile;
  }

  /** @param {string} match */
  #remove(match) {
    this.#tiles.get(match)?.remove();
    this.#tiles.delete(match);
    this.app.matches.close(match);
  }

  /** Watch the matches shown; changes during the request are requested afterwards. */
  async #ask() {
    if (this.#asking) return;
    this.#asking = true;
    try {
      while (this.#asked !== this.#wanted().join() && !this.#ends.signal.aborted) {
        const matches = this.#wanted();
        this.#asked = matches.join();
        /** @type {Walled} */
        const answer = await this.app.connection.request({ type: "wall", matches });
        for (const { match } of answer.refused) this.#refuse(match);
      }
    } catch (error) {
      if (!this.#ends.signal.aborted) this.app.sayError(error);
    } finally {
      this.#asking = false;
    }
  }

  /** Return the matches to watch, without finished ones. */
  #wanted() {
    return this.#slots.matches.filter((match) => !this.#tiles.get(match)?.model.result);
  }

  /** @param {string} match */
  #refuse(match) {
    this.#refused.add(match);
    this.#slots.drop(match, performance.now());
    this.#arrange();
  }
}

function emptyTile() {
  const tile = document.createElement("div");
  tile.className = "live live-empty";
  return tile;
}
