// Lobbies as this client knows them: each whole once, and every change since put into it. Pure.
// The same fold as kibitz_protocol/client/lobby_views.py.

import { compared, merged } from "./hall.js";

/** @typedef {import("./messages.js").LobbyView} LobbyView */
/** @typedef {import("./messages.js").LobbyChanged} LobbyChanged */
/** @typedef {import("./messages.js").MatchBrief} MatchBrief */
/** @typedef {import("./messages.js").Standing} Standing */
/** @typedef {import("./messages.js").ServerMessage} ServerMessage */

export class Lobbies extends EventTarget {
  constructor() {
    super();
    /** @type {Map<string, LobbyView>} */
    this.views = new Map();
  }

  /**
   * Take news in. Emits "change" with the lobby's key, and "closed" with the news where a lobby is
   * gone.
   * @param {ServerMessage} message
   */
  take(message) {
    if (message.type === "lobby") this.#tell(message.lobby);
    else if (message.type === "lobby_changed") this.#change(message);
    else if (message.type === "match_started") this.#setLive(message.lobby, message.match, true);
    else if (message.type === "match_ended") this.#setLive(message.lobby, message.match, false);
    else if (message.type === "lobby_closed") {
      this.views.delete(message.lobby);
      this.dispatchEvent(new CustomEvent("closed", { detail: message }));
    }
  }

  /**
   * Forget a lobby that was left.
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

  /** @param {LobbyChanged} news */
  #change(news) {
    const view = this.views.get(news.lobby);
    if (view) this.#tell(changed(view, news));
  }

  /**
   * @param {string} lobby
   * @param {MatchBrief} brief
   * @param {boolean} runs
   */
  #setLive(lobby, brief, runs) {
    const view = this.views.get(lobby);
    if (!view) return;
    const others = view.live.filter((other) => other.match !== brief.match);
    this.#tell({ ...view, live: runs ? [...others, brief] : others });
  }
}

/**
 * Return a lobby with a change put in.
 * @param {LobbyView} view
 * @param {LobbyChanged} news
 * @returns {LobbyView}
 */
export function changed(view, news) {
  return {
    ...view,
    state: news.state ?? view.state,
    round: news.round ?? view.round,
    spectators: news.spectators ?? view.spectators,
    planned: news.planned ?? view.planned,
    done: news.done ?? view.done,
    void: news.void ?? view.void,
    stopped: news.stopped ?? view.stopped,
    house_trouble: news.house_trouble ?? view.house_trouble,
    members: merged(view.members, news.members, news.left, (each) => each.player, (a, b) => a.seat - b.seat),
    standings: merged(view.standings, news.standings, news.unranked, (each) => each.player, standingOrder),
  };
}

/**
 * By points, wins, fewer matches played, name and key.
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
