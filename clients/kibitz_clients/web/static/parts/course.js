// The course of a match: its start as a stage, and a step for every entry. Any step's stage is made
// from the nearest one before it that is kept, so that going back is as quick as going on.

import { apply } from "../wire/merge_patch.js";

/** @typedef {import("../wire/messages.js").Stage} Stage */
/** @typedef {import("../wire/paint.js").Paint} Paint */
/** @typedef {import("../wire/messages.js").Clock} Clock */
/** @typedef {import("../wire/messages.js").Comment} Comment */
/** @typedef {{seq: number, kind: string, at_ms?: number, ply?: number, seat?: number,
 *   action?: Record<string, unknown>, comment?: Comment | null, text?: string,
 *   [more: string]: unknown}} Entry */
/** @typedef {{seq: number, ply: number, toAct: number, entry: Entry, paint?: Paint | null,
 *   clocks?: readonly Clock[] | null}} Step `ply` and `toAct` are those after the entry */

const KEPT_EVERY = 32;

export class Course {
  /** @type {Step[]} */
  steps = [];
  /** Stages that are kept, by how many steps come before them. @type {Map<number, Stage>} */
  #kept = new Map();

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

  /** Keep a stage that is known to be that after all the steps so far. @param {Stage} stage */
  keep(stage) {
    this.#kept.set(this.steps.length, stage);
  }

  /** The stage after so many steps. @param {number} index @returns {Stage} */
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

  /** Plies played after so many steps. @param {number} index */
  plyAt(index) {
    return index > 0 ? this.steps[index - 1].ply : this.start.ply;
  }

  /** The seat to act after so many steps. @param {number} index */
  toActAt(index) {
    return index > 0 ? this.steps[index - 1].toAct : this.start.toAct;
  }

  /** The clocks after so many steps. @param {number} index */
  clocksAt(index) {
    for (let at = index; at > 0; at -= 1) {
      const { clocks } = this.steps[at - 1];
      if (clocks) return clocks;
    }
    return this.start.clocks;
  }

  /** After how many steps so many plies were played first; the end where there are fewer. */
  indexOfPly(/** @type {number} */ ply) {
    if (ply <= this.start.ply) return 0;
    const index = this.steps.findIndex((step) => step.ply >= ply);
    return index < 0 ? this.length : index + 1;
  }

  /** The next place where there is something to see, forwards (1) or backwards (-1). */
  next(/** @type {number} */ index, /** @type {1 | -1} */ direction) {
    let at = index + direction;
    while (at > 0 && at < this.length && !isSeen(this.steps[at - 1])) at += direction;
    return Math.min(Math.max(0, at), this.length);
  }

  /** The newest move up to a place, or null. @param {number} index */
  moveAt(index) {
    for (let at = index; at > 0; at -= 1) {
      if (this.steps[at - 1].entry.kind === "move") return this.steps[at - 1];
    }
    return null;
  }
}

/** Whether there is anything to see in a step. @param {Step} step */
function isSeen(step) {
  return step.paint !== undefined && step.paint !== null || step.entry.kind === "move";
}
