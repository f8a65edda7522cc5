// The client's copy of one match: its snapshot with all later messages applied.

import { untilFlag } from "./clock.js";
import { apply } from "./merge_patch.js";
import { shownName } from "./names.js";

/** @typedef {EventNews["entry"]} AnyEntry */
/** @typedef {import("./messages.js").Clock} Clock */
/** @typedef {import("./messages.js").Event} EventNews */
/** @typedef {import("./messages.js").Finished} Finished */
/** @typedef {import("./paint.js").Paint} Paint */
/** @typedef {import("./messages.js").Player} Player */
/** @typedef {import("./messages.js").Result} Result */
/** @typedef {import("./messages.js").ServerMessage} ServerMessage */
/** @typedef {import("./messages.js").Snapshot} Snapshot */
/** @typedef {import("./messages.js").Stage} Stage */
/** @typedef {import("./messages.js").YourTurn} YourTurn */
/** @typedef {Clock & {left_ms: number}} LiveClock */
/** @typedef {LiveClock[] & {at: number}} LiveClocks */
/** @typedef {"snapshot"|"event"|"turn"|"finished"|"gap"} Why */
/** @typedef {{why: Why, paint?: Paint, entry?: AnyEntry}} Change */

export class MatchModel extends EventTarget {
  /** @param {string} id */
  constructor(id) {
    super();
    this.id = id;
    /** @type {Snapshot | null} the latest snapshot, for data that never changes in a match */
    this.snapshot = null;
    this.game = "";
    /** @type {Player[]} the player of each seat */
    this.players = [];
    /** @type {Set<number>} seats whose player is not connected */
    this.away = new Set();
    /** @type {number | null} this player's seat */
    this.you = null;
    /** @type {Stage | null} */
    this.stage = null;
    this.ply = 0;
    /** @type {number} the seat to act; -1 when the match is over */
    this.toAct = -1;
    /**
     * @type {LiveClocks | null} the remaining time of each seat, as of `clocks.at`
     * (performance.now())
     */
    this.clocks = null;
    /** @type {YourTurn | null} */
    this.turn = null;
    /** @type {Result | null} */
    this.result = null;
    this.seq = 0;
    /** whether an event is missing; a new snapshot is then needed (`rejoin` or `watch`) */
    this.gap = false;
  }

  /** The players' names by seat, as people read them. */
  get seats() {
    return this.players.map(shownName);
  }

  /**
   * Apply a message; return whether it belongs to this match. Emits "change" with a `Change`.
   * @param {ServerMessage} message
   */
  take(message) {
    if (!("match" in message) || message.match !== this.id) return false;
    switch (message.type) {
      case "snapshot":
        this.#begin(message);
        return true;
      case "event":
        this.#follow(message);
        return true;
      case "your_turn":
        this.#takeTurn(message);
        return true;
      case "finished":
        this.#finish(message);
        return true;
      default:
        return false;
    }
  }

  /**
   * Return the remaining time of a seat now, in milliseconds; null without a clock.
   * @param {number} seat
   * @param {number} [now]
   */
  leftMs(seat, now = performance.now()) {
    if (!this.clocks?.[seat]) return null;
    const running = seat === this.toAct && !this.result;
    return Math.max(0, this.clocks[seat].left_ms - (running ? now - this.clocks.at : 0));
  }

  /** @param {Snapshot} snapshot */
  #begin(snapshot) {
    this.snapshot = snapshot;
    this.game = snapshot.game;
    this.players = snapshot.seats;
    this.away = new Set(snapshot.away ?? []);
    this.you = snapshot.you ?? null;
    this.seq = snapshot.seq;
    this.ply = snapshot.ply;
    this.toAct = snapshot.to_act;
    this.gap = false;
    this.turn = null;
    this.stage = snapshot.stage ?? null;
    this.result = snapshot.result ?? null;
    this.#setClocks(snapshot.clocks, snapshot.left_ms);
    this.#tell({ why: "snapshot" });
  }

  /** @param {EventNews} event */
  #follow(event) {
    const { entry } = event;
    if (!this.snapshot || this.gap || entry.seq <= this.seq) return;
    if (entry.seq > this.seq + 1) {
      this.gap = true;
      this.#tell({ why: "gap" });
      return;
    }
    this.seq = entry.seq;
    this.#followSeats(entry);
    if (event.ply !== this.ply || event.to_act !== this.toAct) this.turn = null;
    this.ply = event.ply;
    this.toAct = event.to_act;
    if (event.clocks) this.#setClocks(event.clocks);
    const paint = /** @type {Paint | undefined} */ (event.patch ?? undefined);
    if (paint && this.stage) this.stage = apply(this.stage, paint);
    this.#tell({ why: "event", paint, entry });
  }

  /** @param {AnyEntry} entry */
  #followSeats(entry) {
    if (entry.kind === "leave") this.away.add(entry.seat);
    if (entry.kind === "return") this.away.delete(entry.seat);
    if (entry.kind === "replace") {
      this.away.delete(entry.seat);
      this.players = this.players.map((old, i) => (i === entry.seat ? entry.player : old));
    }
  }

  /** @param {YourTurn} turn */
  #takeTurn(turn) {
    this.turn = turn;
    this.ply = turn.ply;
    this.toAct = turn.seat;
    if (turn.clocks) this.#setClocks(turn.clocks, turn.left_ms);
    this.#tell({ why: "turn" });
  }

  /** @param {Finished} news */
  #finish(news) {
    this.result = news.result;
    this.seq = Math.max(this.seq, news.seq);
    this.turn = null;
    this.toAct = -1;
    if (news.stage) this.stage = news.stage;
    this.#tell({ why: "finished" });
  }

  /**
   * @param {Clock[] | null | undefined} clocks
   * @param {number | null} [left] the remaining time of the seat to act
   */
  #setClocks(clocks, left) {
    const control = this.snapshot?.time_control;
    if (!clocks || !control) {
      this.clocks = null;
      return;
    }
    const live = clocks.map((clock, seat) => ({
      ...clock,
      left_ms: seat === this.toAct && left != null ? left : untilFlag(control, clock),
    }));
    this.clocks = Object.assign(live, { at: performance.now() });
  }

  /** @param {Change} change */
  #tell(change) {
    this.dispatchEvent(new CustomEvent("change", { detail: change }));
  }
}
