// Builds the course of a match on the server: requests its past in chunks and adds new events.

import { Course } from "./course.js";

/** @typedef {import("../main.js").App} App */
/** @typedef {import("../wire/match.js").MatchModel} MatchModel */
/** @typedef {import("../wire/match.js").Change} Change */
/** @typedef {import("../wire/messages.js").Event} EventNews */
/** @typedef {import("./course.js").Step} Step */

const WINDOW = 200;

/**
 * Emits "course" when `course` is a new object, "step" when it has new steps, and "trouble" with an
 * error.
 */
export class Follower extends EventTarget {
  /** @type {Course | null} */
  course = null;
  /** Whether the course includes the start of the match. */
  whole = false;
  #asking = false;
  #again = false;
  #closed = false;
  /** The newest entry of the course. */
  #seq = 0;
  /** Events that arrived while the past was requested. @type {Step[]} */
  #waiting = [];

  /** @param {App} app @param {MatchModel} model */
  constructor(app, model) {
    super();
    this.app = app;
    this.model = model;
    this.change = (/** @type {Event} */ event) =>
      this.#take(/** @type {CustomEvent<Change>} */ (event).detail);
    model.addEventListener("change", this.change);
    if (model.snapshot) this.#begin();
  }

  close() {
    this.#closed = true;
    this.model.removeEventListener("change", this.change);
  }

  /** @param {Change} change */
  #take({ why, paint, entry }) {
    if (why === "snapshot") this.#begin();
    else if (entry) {
      const { ply, toAct, clocks } = this.model;
      this.#add({ seq: entry.seq, ply, toAct, entry: /** @type {any} */ (entry), paint, clocks: clocks && [...clocks] });
    } else if (why === "finished") {
      // The match is over and its hidden information is public: reload the past with it.
      this.#again = true;
      void this.#ask();
    }
  }

  /** Show the current position at once, and request the past. */
  #begin() {
    const { stage, ply, toAct, clocks } = this.model;
    if (!this.whole && stage) {
      this.course = new Course(stage, { ply, toAct, clocks: clocks && [...clocks] });
      this.#tell("course");
    }
    void this.#ask();
  }

  /** @param {Step} step */
  #add(step) {
    if (this.#asking) this.#waiting.push(step);
    if (!this.course) return;
    if (this.whole && this.#asking) return;
    if (this.whole && step.seq !== this.#seq + 1) return;
    this.course.push(step);
    this.#seq = step.seq;
    this.#tell("step");
  }

  /** Request missing events until none are missing. */
  async #ask() {
    if (this.#asking) return;
    this.#asking = true;
    try {
      do {
        const anew = this.#again || !this.whole;
        this.#again = false;
        await this.#collect(anew);
      } while (this.#again && !this.#closed);
    } catch (error) {
      if (!this.#closed) this.dispatchEvent(new CustomEvent("trouble", { detail: error }));
    } finally {
      this.#asking = false;
    }
  }

  /** @param {boolean} anew */
  async #collect(anew) {
    let course = anew ? null : this.course;
    let seq = anew ? 0 : this.#seq;
    let more = true;
    while (more && !this.#closed) {
      const answer = await this.app.connection.request(
        { type: "history", match: this.model.id, first: seq + 1, count: WINDOW });
      if (!course) {
        const first = answer.stage ?? this.model.stage;
        if (!first) return;
        course = new Course(first, { toAct: firstToAct(answer.events) });
      } else if (answer.stage) {
        course.keep(answer.stage);
      }
      for (const event of /** @type {EventNews[]} */ (answer.events)) {
        course.push(stepOf(event));
        seq = event.entry.seq;
      }
      more = Boolean(answer.more) && answer.events.length > 0;
    }
    if (!course || this.#closed) return;
    for (const step of this.#waiting) {
      if (step.seq !== seq + 1) continue;
      course.push(step);
      seq = step.seq;
    }
    this.#waiting = [];
    const grown = this.whole && !anew;
    [this.course, this.#seq, this.whole] = [course, seq, true];
    this.#asking = false;
    this.#tell(grown ? "step" : "course");
  }

  /** @param {string} what */
  #tell(what) {
    this.dispatchEvent(new Event(what));
  }
}

/** @param {EventNews} event @returns {Step} */
function stepOf({ ply, to_act: toAct, entry, patch, clocks }) {
  const paint = /** @type {import("../wire/paint.js").Paint | undefined} */ (patch ?? undefined);
  return { seq: entry.seq, ply, toAct, entry: /** @type {any} */ (entry), paint, clocks };
}

/**
 * Return the seat to act at the start: that of the first move, or 0.
 * @param {EventNews[]} events
 */
function firstToAct(events) {
  const move = events.find(({ entry }) => entry.kind === "move");
  return move && "seat" in move.entry ? Number(move.entry.seat) : 0;
}
