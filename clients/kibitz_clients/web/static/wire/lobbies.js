// The client's copies of lobbies: each received in full once, then patched. Pure. Must agree with
// kibitz_protocol/client/lobby_views.py.

import { compared } from "./hall.js";
import { apply } from "./merge_patch.js";

/** @typedef {import("./messages.js").LobbyView} LobbyView */
/** @typedef {import("./messages.js").Standing} Standing */
/** @typedef {import("./messages.js").ServerMessage} ServerMessage */

export class Lobbies extends EventTarget {
  constructor() {
    super();
    /** @type {Map<string, LobbyView>} */
    this.views = new Map();
  }

  /**
   * Apply a message. Emits "change" with the lobby's key, or "closed" with the message when a lobby
   * closes.
   * @param {ServerMessage} message
   */
  take(message) {
    if (message.type === "lobby") this.#tell(message.lobby);
    else if (message.type === "lobby_changed") this.#patch(message.lobby, message.patch);
    else if (message.type === "match_started") this.#patch(message.lobby, { live: { [message.match.match]: message.match } });
    else if (message.type === "match_ended") this.#patch(message.lobby, { live: { [message.match.match]: null } });
    else if (message.type === "lobby_closed") {
      this.views.delete(message.lobby);
      this.dispatchEvent(new CustomEvent("closed", { detail: message }));
    }
  }

  /**
   * Forget a lobby that the player left.
   * @param {string} lobby
   */
  forget(lobby) {
    this.views.delete(lobby);
  }

  /** @param {LobbyView} view */
  #tell(view) {
    this.views.set(view.lobby, view);
    this.dispatchEvent(new CustomEvent("change", { detail: view.lobby }));
  }

  /** @param {string} lobby @param {unknown} patch */
  #patch(lobby, patch) {
    const view = this.views.get(lobby);
    if (view) this.#tell(apply(view, patch));
  }
}

/**
 * Return the members by seat.
 * @param {LobbyView} view
 */
export function bySeat(view) {
  return Object.values(view.members).sort((a, b) => a.seat - b.seat);
}

/**
 * Return the lines of the table, best first.
 * @param {LobbyView} view
 */
export function table(view) {
  return Object.values(view.standings).sort(standingOrder);
}

/**
 * Compare two lines by points, wins, fewer matches played, name and key.
 * @param {Standing} a
 * @param {Standing} b
 */
export function standingOrder(a, b) {
  return (
    b.points - a.points ||
    b.wins - a.wins ||
    a.played - b.played ||
    compared(a.name, b.name) ||
    compared(a.player, b.player)
  );
}
