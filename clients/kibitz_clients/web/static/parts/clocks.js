// The players of a match beside its board: names, pieces, ticking clocks, and whose turn it is.

import { look, marble, placed, stone, tank } from "../board/shapes.js";
import { svg } from "../board/svg.js";
import { hasVehicles, stoneOf } from "../board/themes.js";
import { isLimited, leftText, untilFlag } from "../wire/clock.js";
import { fill, h } from "./dom.js";
import { kindMark } from "./names.js";
import { shownName } from "../wire/names.js";

/** @typedef {import("../wire/messages.js").Player} Player */
/** @typedef {import("../wire/messages.js").Stage} Stage */
/** @typedef {import("../wire/messages.js").Clock} Clock */
/** @typedef {import("../wire/messages.js").TimeControl} TimeControl */
/** @typedef {{players: readonly Player[], toAct: number, away?: Set<number>, you?: number | null,
 *   stage: Stage | null, notes?: readonly string[], engines?: readonly string[]}} Seated */

const LOW_MS = 10_000;

export class Seats {
  constructor() {
    this.root = h("ol", { class: "seats", "aria-label": "Players" });
    /** @type {HTMLElement[]} */
    this.clocks = [];
    this.drawn = "";
  }

  /** @param {Seated} seated */
  draw(seated) {
    const { players, toAct, away = new Set(), you = null, stage, notes = [], engines = [] } = seated;
    const key = JSON.stringify([players, toAct, [...away], you, stage?.colours, hasVehicles(Object.values(stage?.cells ?? {})), notes, engines]);
    if (key === this.drawn) return;
    this.drawn = key;
    const before = this.clocks.map((clock) => clock.textContent);
    this.clocks = players.map((_, seat) =>
      h("span", { class: "clock", role: "timer", "aria-live": "off" }, before[seat] ?? ""));
    fill(this.root, players.map((player, seat) => h(
      "li", { class: "seat", "data-turn": seat === toAct, "aria-current": seat === toAct ? "true" : null },
      piece(seat, stage),
      h("span", { class: "grow name" }, kindMark(player.kind), shownName(player),
        you === seat && h("span", { class: "muted" }, " (you)"),
        stage?.colours[seat] && h("span", { class: "muted small-text" }, ` ${stage.colours[seat]}`),
        away.has(seat) && h("span", { class: "tag" }, "away"),
        notes[seat] && h("span", { class: "seat-note" }, notes[seat]),
        engines[seat] && h("span", { class: "seat-note" }, engines[seat])),
      seat === toAct && h("span", { class: "to-move" }, "to move"),
      this.clocks[seat],
    )));
  }

  /**
   * Show the remaining time of each seat.
   * @param {readonly (number | null)[]} left in milliseconds
   */
  show(left) {
    for (const [seat, clock] of this.clocks.entries()) {
      const millis = left[seat] ?? null;
      const text = millis === null ? "" : leftText(millis);
      if (clock.textContent !== text) clock.textContent = text;
      clock.classList.toggle("low", millis !== null && millis < LOW_MS);
    }
  }
}

/**
 * Return the remaining times in a record, in milliseconds.
 * @param {TimeControl | undefined} control
 * @param {readonly Clock[] | null} clocks
 * @param {number} seats
 */
export function readings(control, clocks, seats) {
  return Array.from({ length: seats }, (_, seat) =>
    (control && isLimited(control) && clocks?.[seat] ? untilFlag(control, clocks[seat]) : null));
}

/** Draw a seat's piece as on the board. */
function piece(/** @type {number} */ seat, /** @type {Stage | null} */ stage) {
  const cells = Object.values(stage?.cells ?? {});
  const drawn = stage && cells.some((cell) => cell.kind === "point")
    ? stone(stoneOf(stage, seat), seat, 13)
    : hasVehicles(cells) ? tank(seat, 0) : marble(seat, 13);
  return svg(
    "svg", { viewBox: "-18 -18 36 36", class: `seat-piece seat-piece-${look(seat)}`, "aria-hidden": "true" },
    placed({ x: 0, y: 0 }, ...drawn),
  );
}
