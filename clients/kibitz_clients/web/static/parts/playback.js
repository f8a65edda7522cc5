// Steps through a course: the current index, whether it follows the newest step, and the playback
// speed. Emits "change" when the index changes, "state" when playing or following changes.

/** @typedef {import("./course.js").Course} Course */

export const SPEEDS = /** @type {const} */ ([0.5, 1, 2, 5, 10]);
const STEP_MS = 900;

export class Playback extends EventTarget {
  index = 0;
  playing = false;
  speed = 1;
  /** Whether to show the newest step, including later ones. */
  following = true;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #timer;

  /** @param {Course} course */
  constructor(course) {
    super();
    this.course = course;
    this.index = course.length;
  }

  /** Switch to another course at an index. @param {Course} course @param {number} index */
  load(course, index) {
    this.course = course;
    this.index = Math.min(index, course.length);
    this.dispatchEvent(new CustomEvent("change", { detail: { from: -1 } }));
  }

  /** Show new steps if following. */
  extended() {
    if (this.following) this.#move(this.course.length);
    else this.dispatchEvent(new Event("state"));
  }

  /** @param {number} index */
  goTo(index) {
    this.following = index >= this.course.length;
    this.#move(Math.min(Math.max(0, index), this.course.length));
    this.dispatchEvent(new Event("state"));
  }

  /** @param {1 | -1} direction */
  step(direction) {
    this.pause();
    this.goTo(this.course.next(this.index, direction));
  }

  toggle() {
    if (this.playing) this.pause();
    else this.play();
  }

  play() {
    if (this.index >= this.course.length) this.goTo(0);
    this.playing = true;
    this.#schedule();
    this.dispatchEvent(new Event("state"));
  }

  pause() {
    clearTimeout(this.#timer);
    if (!this.playing) return;
    this.playing = false;
    this.dispatchEvent(new Event("state"));
  }

  #schedule() {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      if (!this.playing) return;
      this.goTo(this.course.next(this.index, 1));
      if (this.index >= this.course.length) this.pause();
      else this.#schedule();
    }, STEP_MS / this.speed);
  }

  /** @param {number} index */
  #move(index) {
    if (index === this.index) return;
    const from = this.index;
    this.index = index;
    this.dispatchEvent(new CustomEvent("change", { detail: { from } }));
  }
}
