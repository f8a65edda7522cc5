// A scrolling line of news. With reduced motion, the newest item is shown without scrolling.

import { h, fill } from "./dom.js";

const PIXELS_A_SECOND = 60;
const MOST = 12;

export class Ticker {
  /** @type {[string, string][]} keys and texts, newest first */
  #lines = [];
  /** @type {Animation | null} */
  #motion = null;
  #shown = "";
  #still = matchMedia("(prefers-reduced-motion: reduce)");

  /**
   * @param {HTMLElement} element
   * @param {string} label
   */
  constructor(element, label) {
    this.element = element;
    element.classList.add("ticker");
    element.setAttribute("role", "log");
    element.setAttribute("aria-live", "off");
    element.setAttribute("aria-label", label);
    this.track = h("ul", { class: "ticker-track" });
    fill(element, this.track);
  }

  /**
   * The lines to show, newest first, each with a key.
   * @param {[string, string][]} lines
   */
  show(lines) {
    this.#lines = lines.slice(0, MOST);
    this.element.hidden = this.#lines.length === 0;
    if (!this.#motion || this.#still.matches) this.#run();
  }

  /** Stop. */
  close() {
    this.#motion?.cancel();
    this.#motion = null;
  }

  /**
   * Scroll once through the current lines, then start over with the lines that are current by then.
   */
  #run() {
    const keys = this.#lines.map(([key]) => key).join();
    if (keys !== this.#shown) {
      this.#shown = keys;
      fill(this.track, this.#lines.map(([, text]) => h("li", null, text)));
    }
    this.#motion?.cancel();
    this.#motion = null;
    if (this.#still.matches || this.#lines.length === 0) return;
    const room = this.element.clientWidth;
    const length = this.track.scrollWidth;
    const motion = this.track.animate(
      [{ transform: `translateX(${room}px)` }, { transform: `translateX(${-length}px)` }],
      { duration: ((room + length) / PIXELS_A_SECOND) * 1000 },
    );
    this.#motion = motion;
    motion.onfinish = () => {
      this.#motion = null;
      this.#run();
    };
  }
}
