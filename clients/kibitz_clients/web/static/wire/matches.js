// The matches that this client follows: one model per match, shared by the pages that show it.
//
// Opening a match requests it from the server: the client rejoins it if this player has a seat, and
// watches it otherwise. It does so again after every reconnect and when events were lost.

import { MatchModel } from "./match.js";

/** @typedef {import("./connection.js").Connection} Connection */
/** @typedef {import("./connection.js").Refusal} Refusal */
/** @typedef {import("./messages.js").ServerMessage} ServerMessage */
/** @typedef {import("./messages.js").Welcome} Welcome */
/** @typedef {{model: MatchModel, users: number, follow: boolean}} Followed */

export class Matches extends EventTarget {
  /** @type {Map<string, Followed>} */
  #followed = new Map();
  /** @type {Set<string>} matches in which this player has a seat */
  #seated = new Set();

  /** @param {Connection} connection */
  constructor(connection) {
    super();
    this.connection = connection;
    connection.addEventListener("news", (event) => {
      this.#take(/** @type {CustomEvent<ServerMessage>} */ (event).detail);
    });
    connection.addEventListener("welcome", (event) => {
      this.#resume(/** @type {CustomEvent<Welcome>} */ (event).detail);
    });
  }

  /** Unfinished matches in which this player has a seat. */
  get seated() {
    return [...this.#seated];
  }

  /**
   * Follow a match. With `follow: false` the caller requests the match in another way (a wall).
   * Emits "refused" on the model if this player may not see it.
   * @param {string} id
   * @param {{follow?: boolean}} [options]
   * @returns {MatchModel}
   */
  open(id, { follow = true } = {}) {
    const followed = this.#followed.get(id) ?? { model: new MatchModel(id), users: 0, follow: false };
    const begin = follow && !followed.follow;
    followed.users += 1;
    followed.follow ||= follow;
    this.#followed.set(id, followed);
    if (begin && !followed.model.snapshot) this.#ask(followed.model);
    return followed.model;
  }

  /**
   * Stop following a match opened by `open`; the player keeps the seat.
   * @param {string} id
   */
  close(id) {
    const followed = this.#followed.get(id);
    if (!followed) return;
    followed.users -= 1;
    if (followed.users > 0 || this.#seated.has(id)) return;
    this.#followed.delete(id);
    if (followed.follow && followed.model.you === null && !followed.model.result) {
      this.connection.request({ type: "unwatch", match: id }).catch(() => {});
    }
  }

  /** @param {ServerMessage} message */
  #take(message) {
    if (!("match" in message) || typeof message.match !== "string") return;
    if (message.type === "snapshot" && message.you !== undefined && !message.result) {
      this.#seat(message.match);
    }
    if (message.type === "finished") this.#seated.delete(message.match);
    const followed = this.#followed.get(message.match);
    if (!followed) return;
    const had = followed.model.gap;
    followed.model.take(message);
    if (message.type === "snapshot" && message.why === "started" && message.you !== undefined) {
      this.dispatchEvent(new CustomEvent("started", { detail: followed.model }));
    }
    if (followed.model.gap && !had && followed.follow) this.#ask(followed.model);
    if (message.type === "finished" && followed.users === 0) this.#followed.delete(message.match);
  }

  /** @param {string} id */
  #seat(id) {
    this.#seated.add(id);
    if (!this.#followed.has(id)) {
      this.#followed.set(id, { model: new MatchModel(id), users: 0, follow: true });
    }
  }

  /** @param {Welcome} welcome */
  #resume(welcome) {
    this.#seated = new Set(welcome.seats);
    for (const id of welcome.seats) this.#seat(id);
    for (const { model, follow } of this.#followed.values()) {
      if (follow && !model.result) this.#ask(model);
    }
  }

  /** @param {MatchModel} model */
  #ask(model) {
    const type = this.#seated.has(model.id) ? "rejoin" : "watch";
    this.connection.request({ type, match: model.id }).catch((/** @type {Refusal} */ refusal) => {
      model.dispatchEvent(new CustomEvent("refused", { detail: refusal }));
    });
  }
}
