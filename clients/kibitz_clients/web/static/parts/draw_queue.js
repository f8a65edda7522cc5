// Draws changed boards frame by frame, only as many in each as keep the frame rate.
//
// Painting many boards takes longer than a frame lasts, and the page would stutter. So each frame
// has a quota, which shrinks when frames are late and grows when they are not. Boards are drawn in
// the order in which they were queued, in their state at that time.
//
// Rows of boards are bands, and one frame draws boards of one band, the bands in turn: without a
// GPU a browser composes the whole rectangle around all changes anew.

/** A frame that took longer is late: the wall is to move at 30 frames a second and more. */
const LATE_MS = 28;
const GOOD_MS = 20;
const LEAST = 8;
const MOST = 200;

/** @typedef {{draw: () => void, band?: number}} Drawable */

export class DrawQueue {
  /** @type {Set<Drawable>} in the order in which they came */
  #waiting = new Set();
  #quota = 16;
  /** the band that was drawn last */
  #band = -1;
  /** when the last frame was, 0 where nothing was drawn in it */
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

  /** The next band with queued boards. */
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
