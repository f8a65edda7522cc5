// Draws changed boards, but only as many per frame as the frame rate allows.
//
// Painting many boards takes longer than a frame, and the page would stutter. So each frame has a
// quota, which shrinks when frames are late and grows otherwise. Boards are drawn in queue order,
// in their state at the time of drawing.
//
// Rows of boards form bands, and each frame draws boards of only one band in turn: without a GPU, a
// browser recomposes the whole rectangle around all changes.

/** A longer frame is late: the wall should reach 30 frames per second. */
const LATE_MS = 28;
const GOOD_MS = 20;
const LEAST = 8;
const MOST = 200;

/** @typedef {{draw: () => void, band?: number}} Drawable */

export class DrawQueue {
  /** @type {Set<Drawable>} in order of arrival */
  #waiting = new Set();
  #quota = 16;
  /** The last drawn band. */
  #band = -1;
  /** The time of the last frame, 0 if it drew nothing. */
  #last = 0;
  /** @type {number | null} */
  #frame = null;

  /** @param {Drawable} drawable */
  add(drawable) {
    this.#waiting.add(drawable);
    this.#frame ??= requestAnimationFrame((now) => this.#run(now));
  }

  /** @param {Drawable} drawable */
  remove(drawable) {
    this.#waiting.delete(drawable);
  }

  /** @param {number} now */
  #run(now) {
    if (this.#last > 0) this.#adapt(now - this.#last);
    this.#band = this.#nextBand();
    let left = this.#quota;
    for (const drawable of this.#waiting) {
      if (left <= 0) break;
      if ((drawable.band ?? 0) !== this.#band) continue;
      left -= 1;
      this.#waiting.delete(drawable);
      drawable.draw();
    }
    // One extra frame at the end measures how long the last one took.
    const goesOn = left < this.#quota;
    this.#last = goesOn ? now : 0;
    this.#frame = goesOn || this.#waiting.size > 0
      ? requestAnimationFrame((next) => this.#run(next)) : null;
  }

  /** Return the next band with queued boards. */
  #nextBand() {
    const bands = [...this.#waiting].map((drawable) => drawable.band ?? 0);
    const next = bands.filter((band) => band > this.#band);
    return Math.min(...(next.length > 0 ? next : bands));
  }

  /** @param {number} took */
  #adapt(took) {
    if (took > LATE_MS) this.#quota = Math.max(LEAST, Math.floor(this.#quota * 0.75));
    else if (took < GOOD_MS) this.#quota = Math.min(MOST, this.#quota + 1);
  }
}
