// The board of a match with players, clocks, moves, the bots' values and lines, and playback
// controls. It shows live and recorded matches.

import { cellsNamed } from "../board/geometry.js";
import { svg } from "../board/svg.js";
import { Course } from "./course.js";
import { readings, Seats } from "./clocks.js";
import { fill, h } from "./dom.js";
import { commentText, lastText, valueText } from "./move_text.js";
import { Moves } from "./moves.js";
import { Playback, SPEEDS } from "./playback.js";
import { Talk } from "./talk.js";
import { ValueGraph } from "./value_graph.js";
import { shownName } from "../wire/names.js";

/** @typedef {import("../board/board.js").KibitzBoard} Board */
/** @typedef {import("./course.js").Judged} Judged */
/** @typedef {import("../wire/messages.js").Player} Player */
/** @typedef {import("../wire/messages.js").Stage} Stage */
/** @typedef {import("../wire/messages.js").TimeControl} TimeControl */
/** @typedef {{players: readonly Player[], control?: TimeControl, seatNotes?: readonly string[],
 *   engines?: readonly string[],
 *   you?: number | null, away?: Set<number>}} Match */

/** Up to this many steps forward are painted one by one; more are drawn at once. */
const MOST_PAINTED = 12;
/** @type {Stage} */
const NOTHING = { lattice: "square", cells: {}, labels: [], marks: [], text: [], colours: [] };

const ICONS = {
  first: "M4 4h3v12h-3zM16 4v12l-8 -6z",
  back: "M13 4v12l-8 -6z",
  play: "M5 3v14l12 -7z",
  pause: "M5 4h4v12h-4zM11 4h4v12h-4z",
  on: "M7 4v12l8 -6z",
  last: "M13 4h3v12h-3zM4 4v12l8 -6z",
};

/** @param {keyof ICONS} name */
function icon(name) {
  return svg("svg", { viewBox: "0 0 20 20", class: "icon", "aria-hidden": "true" }, svg("path", { d: ICONS[name] }));
}

/**
 * Make a navigation button.
 * @param {keyof ICONS} name
 * @param {string} label
 * @param {() => void} act
 */
function step(name, label, act) {
  return h("button", { type: "button", class: "step", "aria-label": label, title: label, onclick: act }, icon(name));
}

export class Viewer {
  /** @type {Match} */
  match = { players: [] };
  /** @type {Course} */
  course = new Course(NOTHING);
  playback = new Playback(this.course);
  /** Whether the caller draws the clocks of the newest position, which are running. */
  liveClocks = false;

  constructor() {
    this.board = /** @type {Board} */ (document.createElement("kibitz-board"));
    this.seats = new Seats();
    this.moves = new Moves((index) => this.#jump(index));
    this.graph = new ValueGraph((index) => this.#jump(index));
    this.talk = new Talk((index) => this.#jump(index));
    this.said = h("p", { class: "said-now", "aria-live": "off" });
    this.notes = h("section", { class: "notes", hidden: true });
    this.graphBox = h(
      "figure", { class: "graph", hidden: true }, this.graph.root, h("figcaption", { class: "muted small-text" }),
    );
    this.playButton = step("play", "Play", () => this.playback.toggle());
    this.range = h("input", {
      type: "range", min: 0, max: 0, value: 0, step: 1, class: "scrub", "aria-label": "Position",
      oninput: () => this.#jump(Number(this.range.value)),
    });
    this.place = h("span", { class: "place" });
    this.linesBox = h("input", { type: "checkbox", checked: true, onchange: () => this.#lines() });
    this.linesLabel = h("label", { class: "lines-switch", hidden: true }, this.linesBox, " expected moves");
    this.last = h("p", { class: "last-move muted" });
    /** A slot below the board. */
    this.below = h("div", { class: "below-board" });
    /** A slot above the players. */
    this.head = h("div", { class: "side-head" });
    /** A slot at the bottom of the side panel. */
    this.foot = h("div", { class: "side-foot" });
    this.root = h(
      "div", { class: "viewer" },
      h("div", { class: "board-column" }, this.board, this.last, this.below, this.#controls()),
      h("div", { class: "side" }, this.head, this.seats.root, this.said, this.graphBox,
        this.moves.root, this.talk.root, this.notes, this.foot),
    );
    this.root.addEventListener("keydown", (event) => this.#key(event));
    this.playback.addEventListener("change", (event) => {
      this.#show(/** @type {CustomEvent<{from: number}>} */ (event).detail.from);
    });
    this.playback.addEventListener("state", () => this.#state());
  }

  get names() {
    return this.match.players.map(shownName);
  }

  /** Set the players. @param {Match} match */
  describe(match) {
    const renamed = JSON.stringify(match.players) !== JSON.stringify(this.match.players);
    this.match = match;
    if (renamed) this.board.seatNames = this.names;
    this.#seats();
  }

  /** Show a course at an index. @param {Course} course @param {number} [index] */
  load(course, index = course.length) {
    this.course = course;
    this.moves.clear();
    this.playback.following = index >= course.length;
    this.#listed();
    this.playback.load(course, index);
    this.#state();
  }

  /** Show the steps added to the course. */
  extended() {
    this.#listed();
    this.playback.extended();
  }

  // ---------------------------------------------------------------------------- controls

  #controls() {
    const { playback } = this;
    const speed = h(
      "select", { "aria-label": "Speed", onchange: () => { playback.speed = Number(speed.value); } },
      SPEEDS.map((speed) => h("option", { value: speed, selected: speed === 1 }, `${speed}×`)),
    );
    return h(
      "div", { class: "controls", role: "group", "aria-label": "Replay" },
      h("div", { class: "scrub-row" }, this.range, this.place),
      h("div", { class: "step-row" },
        step("first", "First position", () => this.#jump(0)),
        step("back", "Previous move", () => playback.step(-1)),
        this.playButton,
        step("on", "Next move", () => playback.step(1)),
        step("last", "Newest position", () => this.#jump(this.course.length)),
        speed, this.linesLabel),
    );
  }

  /** @param {number} index */
  #jump(index) {
    this.playback.pause();
    this.playback.goTo(index);
  }

  /** @param {KeyboardEvent} event */
  #key(event) {
    const target = /** @type {Element} */ (event.target);
    if (target.closest("input, select, textarea, dialog") || event.ctrlKey || event.altKey || event.metaKey) return;
    const inBoard = this.board.contains(target) && this.board.picks !== null;
    const act = {
      ArrowLeft: () => this.playback.step(-1), ArrowRight: () => this.playback.step(1),
      Home: () => this.#jump(0), End: () => this.#jump(this.course.length),
    }[event.key];
    if (!act || inBoard) return;
    event.preventDefault();
    act();
  }

  // ----------------------------------------------------------------------------- showing

  #listed() {
    this.moves.extend(this.course, this.names);
    this.graphBox.hidden = !this.graph.draw(this.course, this.names);
    const caption = this.graphBox.querySelector("figcaption");
    if (caption) caption.textContent = this.#graphWords();
    this.linesLabel.hidden = !this.course.analysis
      && !this.course.steps.some(({ entry }) => entry.comment?.line?.length);
    this.talk.draw(this.course);
    this.#notes();
  }

  #graphWords() {
    const { analysis } = this.course;
    if (analysis) {
      const above = this.names.length === 2 ? `; above the line, ${this.names[0]} is better` : "";
      return `Evaluations of each position by ${analysis.by}, for the player to move${above}.`;
    }
    return this.names.length === 2
      ? `Evaluations by the bots, each in its own unit; above the line, ${this.names[0]} is better.`
      : "Each bot's evaluation of its own position, in its own unit.";
  }

  /** Return a bot's notes, if this viewer may read them. */
  #notes() {
    const notes = this.course.steps.filter(({ entry }) => entry.kind === "note");
    this.notes.hidden = notes.length === 0;
    if (notes.length === 0) return;
    const lines = notes.map(({ entry, ply }) => h("div", null,
      h("span", { class: "ply" }, ply), ` ${entry.text ?? ""}`));
    fill(this.notes, h("h2", null, "Bot notes"), h("pre", { tabindex: 0 }, lines));
  }

  /** @param {number} from the index shown before, or a negative number */
  #show(from) {
    const { index } = this.playback;
    const ahead = index - from;
    if (from >= 0 && ahead > 0 && ahead <= MOST_PAINTED && this.board.stage) {
      for (let at = from; at < index; at += 1) {
        const { paint } = this.course.steps[at];
        if (paint) this.board.paint(paint, { animate: at === index - 1 || ahead <= 2 });
      }
    } else {
      this.board.stage = this.course.stageAt(index);
    }
    this.moves.mark(index);
    this.graph.show(this.course.plyAt(index));
    this.#lines();
    this.#state();
  }

  #lines() {
    const move = this.course.moveAt(this.playback.index);
    const comment = move?.entry.comment;
    this.last.textContent = move ? lastText(move, this.names) : "";
    const judged = this.course.judgedAt(this.playback.index);
    this.said.textContent = judged ? judgedText(judged, this.names)
      : comment && !this.course.analysis
        ? `${this.names[move?.entry.seat ?? 0] ?? "bot"}: ${commentText(comment)}` : "";
    const expected = judged?.line ?? comment?.line?.slice(1) ?? [];
    const line = this.linesBox.checked ? expected : [];
    const cells = this.board.stage?.cells ?? {};
    const first = this.course.toActAt(this.playback.index);
    const seats = Math.max(1, this.names.length);
    this.board.lines = first < 0 ? [] : line.slice(0, 5).map((words, i) => (
      { cells: cellsNamed(words, cells), seat: (first + i) % seats }));
  }

  #state() {
    const { index, playing } = this.playback;
    const { length } = this.course;
    this.range.max = String(length);
    this.range.value = String(index);
    const ply = this.course.plyAt(index);
    this.range.setAttribute("aria-valuetext", `after ply ${ply}`);
    this.place.textContent = `ply ${ply} of ${this.course.plyAt(length)}`;
    fill(this.playButton, icon(playing ? "pause" : "play"));
    this.playButton.setAttribute("aria-label", playing ? "Pause" : "Play");
    this.playButton.title = playing ? "Pause" : "Play";
    this.#seats();
  }

  #seats() {
    const { index } = this.playback;
    const { players, control, seatNotes, engines, you, away } = this.match;
    this.seats.draw({
      players, you, away, toAct: this.course.toActAt(index), stage: this.board.stage,
      notes: index === this.course.length ? seatNotes : undefined,
      engines,
    });
    if (this.liveClocks && this.playback.following) return;
    this.seats.show(readings(control, this.course.clocksAt(index), players.length));
  }
}

/** Describe the value of a position and the best moves. @param {Judged} judged @param {readonly string[]} names */
function judgedText({ seat, value, best, line }, names) {
  const worth = typeof value === "number" ? ` (${valueText(value)})` : "";
  return `Best for ${names[seat] ?? "the player to move"}${worth}: ${(line?.length ? line : [best]).join(", ")}`;
}
