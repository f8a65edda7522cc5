// The course of a match: its start as a stage, and a step for every entry. A step's stage is
// computed from the nearest earlier cached one, so stepping back is as fast as stepping forward.

import { apply } from "../wire/merge_patch.js";

/** @typedef {import("../wire/messages.js").Stage} Stage */
/** @typedef {import("../wire/paint.js").Paint} Paint */
/** @typedef {import("../wire/messages.js").Clock} Clock */
/** @typedef {import("../wire/messages.js").Comment} Comment */
/** @typedef {{seq: number, kind: string, at_ms?: number, ply?: number, seat?: number,
 *   action?: Record<string, unknown>, comment?: Comment | null, text?: string,
 *   [more: string]: unknown}} Entry */
/** @typedef {{seq: number, ply: number, toAct: number, entry: Entry, paint?: Paint | null,
 *   clocks?: readonly Clock[] | null}} Step `ply` and `toAct` apply after the entry */
/** @typedef {{ply: number, seat: number, played: string, best: string, value?: number, depth?: number,
 *   nodes?: number, line?: string[]}} Judged a bot's evaluation of the position after `ply` plies */
/** @typedef {{ply: number, seat: number, before: string, after: string}} Swing
 *   a move that lost value: what its seat's position was worth before the move and at its next turn */
/** @typedef {{by: string, ms: number, moves: Judged[], swings: Swing[]}} Analysis */

const KEPT_EVERY = 32;

export class Course {
  /** @type {Step[]} */
  steps = [];
  /** Cached stages, by the number of steps before them. @type {Map<number, Stage>} */
  #kept = new Map();
  /** A bot's analysis of the whole match. @type {Analysis | null} */
  analysis = null;
  /** The evaluations of the analysis, by ply. @type {Map<number, Judged>} */
  #judged = new Map();

  /**
   * @param {Stage} stage before the first step
   * @param {{ply?: number, toAct?: number, clocks?: readonly Clock[] | null}} [start]
   */
  constructor(stage, { ply = 0, toAct = 0, clocks = null } = {}) {
    this.start = { ply, toAct, clocks };
    this.#kept.set(0, stage);
  }

  get length() {
    return this.steps.length;
  }

  /** @param {Step} step */
  push(step) {
    this.steps.push(step);
  }

  /** Cache the stage after all steps so far. @param {Stage} stage */
  keep(stage) {
    this.#kept.set(this.steps.length, stage);
  }

  /** Store an analysis, and replace the comments on moves with its values. @param {Analysis} analysis */
  judge(analysis) {
    this.analysis = analysis;
    this.#judged = new Map(analysis.moves.map((judged) => [judged.ply, judged]));
    for (const step of this.steps) {
      const judged = step.entry.kind === "move" ? this.#judged.get(step.entry.ply ?? -1) : undefined;
      if (!judged) continue;
      const { value, played, best } = judged;
      const comment = { value, text: played === best ? "" : `better ${best}` };
      step.entry = { ...step.entry, comment: /** @type {Comment} */ (comment) };
    }
  }

  /** Return the analysis of the position after `index` steps. @param {number} index */
  judgedAt(index) {
    return this.#judged.get(this.plyAt(index));
  }

  /** Return the stage after `index` steps. @param {number} index @returns {Stage} */
  stageAt(index) {
    let from = Math.min(Math.max(0, index), this.length);
    while (!this.#kept.has(from)) from -= 1;
    let stage = /** @type {Stage} */ (this.#kept.get(from));
    for (let at = from; at < Math.min(index, this.length); at += 1) {
      const { paint } = this.steps[at];
      if (paint) stage = apply(stage, paint);
      if ((at + 1) % KEPT_EVERY === 0) this.#kept.set(at + 1, stage);
    }
    return stage;
  }

  /** Return the number of plies after `index` steps. @param {number} index */
  plyAt(index) {
    return index > 0 ? this.steps[index - 1].ply : this.start.ply;
  }

  /** Return the seat to act after `index` steps. @param {number} index */
  toActAt(index) {
    return index > 0 ? this.steps[index - 1].toAct : this.start.toAct;
  }

  /** Return the clocks after `index` steps. @param {number} index */
  clocksAt(index) {
    for (let at = index; at > 0; at -= 1) {
      const { clocks } = this.steps[at - 1];
      if (clocks) return clocks;
    }
    return this.start.clocks;
  }

  /** Return the first index at which this many plies were played; the end if there are fewer. */
  indexOfPly(/** @type {number} */ ply) {
    if (ply <= this.start.ply) return 0;
    const index = this.steps.findIndex((step) => step.ply >= ply);
    return index < 0 ? this.length : index + 1;
  }

  /** Return the next index with a visible change, forward (1) or backward (-1). */
  next(/** @type {number} */ index, /** @type {1 | -1} */ direction) {
    let at = index + direction;
    while (at > 0 && at < this.length && !isSeen(this.steps[at - 1])) at += direction;
    return Math.min(Math.max(0, at), this.length);
  }

  /** Return the latest move up to an index, or null. @param {number} index */
  moveAt(index) {
    for (let at = index; at > 0; at -= 1) {
      if (this.steps[at - 1].entry.kind === "move") return this.steps[at - 1];
    }
    return null;
  }
}

/** Return whether a step changes anything visible. @param {Step} step */
function isSeen(step) {
  return step.paint !== undefined && step.paint !== null || step.entry.kind === "move";
}
