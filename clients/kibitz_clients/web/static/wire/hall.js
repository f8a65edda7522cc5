// The hall as this client knows it: lobbies, matches, ladders; all of it once, then what changes.

import { REPEATABLE } from "./protocol.js";

/** @typedef {import("./connection.js").Connection} Connection */
/** @typedef {import("./messages.js").LobbyBrief & {order?: number}} LobbyLine */
/** @typedef {import("./messages.js").MatchBrief & {order?: number}} MatchLine */
/** @typedef {import("./messages.js").LadderTable} LadderTable */
/**
 * @typedef {object} HallView the newest of each list first
 * @property {LobbyLine[]} lobbies
 * @property {MatchLine[]} matches running
 * @property {MatchLine[]} finished
 * @property {LadderTable[]} ladders
 * @property {number} lobbies_in_all
 * @property {number} matches_in_all
 */
/**
 * @typedef {object} HallChanged what is absent is as it was
 * @property {LobbyLine[]} [lobbies]
 * @property {string[]} [lobbies_gone]
 * @property {MatchLine[]} [matches]
 * @property {Record<string, number>} [plies]
 * @property {string[]} [matches_gone]
 * @property {MatchLine[]} [finished]
 * @property {string[]} [finished_gone]
 * @property {LadderTable[]} [ladders]
 * @property {string[]} [ladders_gone]
 * @property {number} [lobbies_in_all]
 * @property {number} [matches_in_all]
 */

const POLL_MS = 2_000;

export class Hall extends EventTarget {
  /** @type {HallView | null} */
  view = null;
  #connection;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #poll;
  #open = false;

  /** @param {Connection} connection */
  constructor(connection) {
    super();
    this.#connection = connection;
  }

  /** Be told of the hall, again after every reconnect. Emits "change". */
  async open() {
    this.#open = true;
    this.#connection.addEventListener("news", this.#take);
    this.#connection.addEventListener("welcome", this.#subscribe);
    await this.#subscribe();
  }

  close() {
    this.#open = false;
    clearTimeout(this.#poll);
    this.#connection.removeEventListener("news", this.#take);
    this.#connection.removeEventListener("welcome", this.#subscribe);
    if (REPEATABLE.has("subscribe")) {
      this.#connection.request({ type: "unsubscribe", topic: "hall" }).catch(() => {});
    }
  }

  #subscribe = async () => {
    if (REPEATABLE.has("subscribe")) {
      await this.#connection.request({ type: "subscribe", topic: "hall" });
    } else {
      await this.#ask();
    }
  };

  /** @param {globalThis.Event} event */
  #take = (event) => {
    const message = /** @type {CustomEvent<any>} */ (event).detail;
    if (message.type === "hall") this.#tell(message);
    else if (message.type === "hall_changed" && this.view) {
      this.#tell(changedHall(this.view, message));
    }
  };

  /** Ask for the lists, where the server has no subscriptions. */
  async #ask() {
    clearTimeout(this.#poll);
    const [{ lobbies }, { matches }, { games }] = await Promise.all([
      this.#connection.request({ type: "list_lobbies" }),
      this.#connection.request({ type: "list_matches" }),
      this.#connection.request({ type: "ladder", count: 10 }),
    ]);
    if (!this.#open) return;
    const running = matches.filter((/** @type {MatchLine} */ match) => !match.result);
    this.#tell({
      lobbies: lobbies.reverse(),
      matches: running.reverse(),
      finished: matches.filter((/** @type {MatchLine} */ match) => match.result),
      ladders: games,
      lobbies_in_all: lobbies.length,
      matches_in_all: running.length,
    });
    this.#poll = setTimeout(() => void this.#ask().catch(() => {}), POLL_MS);
  }

  /** @param {HallView} view */
  #tell(view) {
    this.view = view;
    this.dispatchEvent(new Event("change"));
  }
}

/**
 * Return the hall with a change put in.
 * @param {HallView} view
 * @param {HallChanged} news
 * @returns {HallView}
 */
export function changedHall(view, news) {
  const matches = view.matches.map((match) => {
    const ply = news.plies?.[match.match];
    return ply === undefined ? match : { ...match, ply };
  });
  return {
    lobbies: merged(view.lobbies, news.lobbies, news.lobbies_gone, (each) => each.lobby, newest),
    matches: merged(matches, news.matches, news.matches_gone, (each) => each.match, newest),
    finished: merged(view.finished, news.finished, news.finished_gone, (each) => each.match, newest),
    ladders: merged(view.ladders, news.ladders, news.ladders_gone, (each) => each.game, byGame),
    lobbies_in_all: news.lobbies_in_all ?? view.lobbies_in_all,
    matches_in_all: news.matches_in_all ?? view.matches_in_all,
  };
}

/**
 * @template T
 * @param {T[]} old
 * @param {T[] | undefined} news
 * @param {string[] | undefined} gone
 * @param {(each: T) => string} key
 * @param {(a: T, b: T) => number} order
 * @returns {T[]}
 */
function merged(old, news, gone, key, order) {
  if (!news && !gone) return old;
  const lines = new Map(old.map((line) => [key(line), line]));
  for (const name of gone ?? []) lines.delete(name);
  for (const line of news ?? []) lines.set(key(line), line);
  return [...lines.values()].sort(order);
}

/**
 * @param {{order?: number}} a
 * @param {{order?: number}} b
 */
function newest(a, b) {
  return (b.order ?? 0) - (a.order ?? 0);
}

/**
 * @param {LadderTable} a
 * @param {LadderTable} b
 */
function byGame(a, b) {
  return a.game < b.game ? -1 : a.game > b.game ? 1 : 0;
}
