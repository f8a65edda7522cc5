// Chooses the matches and the number of columns of a wall. Pure.
//
// A board keeps its match until some time after the end; then another match takes its place. If
// there is none, the board is removed and the others grow.

/** How long to show the end of a match, in milliseconds. */
export const LINGER_MS = 6000;
/** How long an empty board waits for a match before it is removed. */
export const EMPTY_MS = 3000;
/** The smallest tile on which a board is readable, in CSS pixels. */
export const LEAST = { width: 148, height: 184 };
/** The maximum number of matches that a connection may watch. */
export const MOST = 200;
/** The best ratio of width to height for a tile with its board and names. */
const RATIO = 0.82;

/**
 * @typedef {{match: string, game: string, result?: unknown, watchable?: boolean, void?: boolean}}
 * Candidate
 * @typedef {{match: string | null, endedAt: number | null, emptyAt: number | null}} Slot
 */

export class WallSlots {
  constructor() {
    /** @type {Slot[]} In display order. */
    this.slots = [];
    /** @type {Map<string, string>} The games of the matches shown. */
    this.games = new Map();
  }

  /** The matches shown. */
  get matches() {
    return this.slots.flatMap((slot) => (slot.match === null ? [] : [slot.match]));
  }

  /** Note that a match is over; its end remains visible for a while. */
  end(/** @type {string} */ match, /** @type {number} */ now) {
    const slot = this.slots.find((other) => other.match === match);
    if (slot && slot.endedAt === null) slot.endedAt = now;
  }

  /** Remove a match at once. */
  drop(/** @type {string} */ match, /** @type {number} */ now) {
    for (const slot of this.slots) {
      if (slot.match === match) Object.assign(slot, { match: null, endedAt: null, emptyAt: now });
    }
  }

  /**
   * Assign free boards to matches without one; return whether anything changed.
   * @param {Iterable<Candidate>} running
   * @param {number} most the number of boards that fit
   * @param {number} now in milliseconds
   */
  update(running, most, now) {
    const before = this.slots.map((slot) => slot.match).join();
    this.slots.length = Math.min(this.slots.length, most);
    for (const slot of this.slots) {
      if (slot.endedAt !== null && now - slot.endedAt >= LINGER_MS) {
        Object.assign(slot, { match: null, endedAt: null, emptyAt: now });
      }
    }
    const shown = new Set(this.matches);
    const waiting = [...running].filter((match) => isShowable(match) && !shown.has(match.match));
    this.#seat(waiting, most);
    this.slots = this.slots.filter(
      (slot) => slot.match !== null || now - (slot.emptyAt ?? now) < EMPTY_MS,
    );
    return before !== this.slots.map((slot) => slot.match).join();
  }

  /** Place waiting matches; games with the fewest boards come first. */
  #seat(/** @type {Candidate[]} */ waiting, /** @type {number} */ most) {
    const counts = new Map();
    for (const match of this.matches) {
      const game = this.games.get(match);
      counts.set(game, (counts.get(game) ?? 0) + 1);
    }
    while (waiting.length > 0) {
      const slot = this.slots.find((other) => other.match === null);
      if (!slot && this.slots.length >= most) return;
      const count = (/** @type {Candidate} */ match) => counts.get(match.game) ?? 0;
      const next = waiting.reduce((best, match) => (count(match) < count(best) ? match : best));
      waiting = waiting.filter((match) => match !== next);
      counts.set(next.game, count(next) + 1);
      this.games.set(next.match, next.game);
      if (slot) Object.assign(slot, { match: next.match, emptyAt: null });
      else this.slots.push({ match: next.match, endedAt: null, emptyAt: null });
    }
  }
}

function isShowable(/** @type {Candidate} */ match) {
  return !match.result && !match.void && match.watchable !== false;
}

/** Return the maximum number of tiles that fit. @param {number} width @param {number} height */
export function capacity(width, height) {
  const across = Math.max(1, Math.floor(width / LEAST.width));
  return across * Math.max(1, Math.floor(height / LEAST.height));
}

/**
 * Return the number of columns that gives the largest boards.
 * @param {number} count @param {number} width @param {number} height
 */
export function columns(count, width, height) {
  let best = 1;
  let largest = 0;
  for (let across = 1; across <= Math.max(1, count); across += 1) {
    const down = Math.ceil(count / across);
    const side = Math.min(width / across / RATIO, height / down);
    if (side > largest + 0.5) [best, largest] = [across, side];
  }
  return best;
}
