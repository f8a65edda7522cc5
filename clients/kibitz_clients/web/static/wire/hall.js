// The client's copy of the hall (lobbies, matches, ladders): a full copy first, then patches.

import { apply } from "./merge_patch.js";

/** @typedef {import("./connection.js").Connection} Connection */
/** @typedef {import("./messages.js").HallNews} HallNews */
/** @typedef {import("./messages.js").ServerMessage} ServerMessage */

export class Hall extends EventTarget {
  /** @type {HallNews | null} */
  view = null;
  #connection;

  /** @param {Connection} connection */
  constructor(connection) {
    super();
    this.#connection = connection;
  }

  /** Subscribe to the hall, again after every reconnect. Emits "change". */
  async open() {
    this.#connection.addEventListener("news", this.#take);
    this.#connection.addEventListener("welcome", this.#again);
    await this.#subscribe();
  }

  close() {
    this.#connection.removeEventListener("news", this.#take);
    this.#connection.removeEventListener("welcome", this.#again);
    this.#connection.request({ type: "unsubscribe", topic: "hall" }).catch(() => {});
  }

  #subscribe() {
    return this.#connection.request({ type: "subscribe", topic: "hall" });
  }

  #again = () => {
    this.#subscribe().catch(() => {});
  };

  /** @param {globalThis.Event} event */
  #take = (event) => {
    const message = /** @type {CustomEvent<ServerMessage>} */ (event).detail;
    if (message.type === "hall") this.#tell(message);
    else if (message.type === "hall_changed" && this.view) this.#tell(apply(this.view, message.patch));
  };

  /** @param {HallNews} view */
  #tell(view) {
    this.view = view;
    this.dispatchEvent(new Event("change"));
  }
}

/**
 * Return lobbies or matches of the hall, newest first.
 * @template {{order?: number}} T
 * @param {Record<string, T>} briefs
 * @returns {T[]}
 */
export function newest(briefs) {
  return Object.values(briefs).sort((a, b) => (b.order ?? 0) - (a.order ?? 0));
}

/** @param {string} a @param {string} b */
export function compared(a, b) {
  return a < b ? -1 : a > b ? 1 : 0;
}
