// The hall as this client knows it: lobbies, matches, ladders; all of it once, then what changes.
// `changedHall` is the same fold as kibitz_protocol/client/hall_view.py.

/** @typedef {import("./connection.js").Connection} Connection */
/** @typedef {import("./messages.js").HallNews} HallNews */
/** @typedef {import("./messages.js").HallChanged} HallChanged */
/** @typedef {import("./messages.js").LadderTable} LadderTable */
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
    else if (message.type === "hall_changed" && this.view) this.#tell(changedHall(this.view, message));
  };

  /** @param {HallNews} view */
  #tell(view) {
    this.view = view;
    this.dispatchEvent(new Event("change"));
  }
}

/**
 * Return the hall with a change put in.
 * @param {HallNews} view
 * @param {HallChanged} news
 * @returns {HallNews}
 */
export function changedHall(view, news) {
  const matches = merged(view.matches, news.matches, news.matches_gone, (brief) => brief.match, newest);
  return {
    type: "hall",
    lobbies: merged(view.lobbies, news.lobbies, news.lobbies_gone, (brief) => brief.lobby, newest),
    matches: news.plies
      ? matches.map((match) => ({ ...match, ply: news.plies?.[match.match] ?? match.ply })) : matches,
    finished: merged(view.finished, news.finished, news.finished_gone, (brief) => brief.match, newest),
    ladders: merged(view.ladders, news.ladders, news.ladders_gone, (table) => table.game, byGame),
    lobbies_in_all: news.lobbies_in_all ?? view.lobbies_in_all,
    matches_in_all: news.matches_in_all ?? view.matches_in_all,
  };
}

/**
 * Return lines with those put in that have changed, and without those that are gone.
 * @template T
 * @param {T[]} old
 * @param {T[] | undefined} news
 * @param {string[] | undefined} gone
 * @param {(each: T) => string} key
 * @param {(a: T, b: T) => number} order
 * @returns {T[]}
 */
export function merged(old, news, gone, key, order) {
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
  return compared(a.game, b.game);
}

/** @param {string} a @param {string} b */
export function compared(a, b) {
  return a < b ? -1 : a > b ? 1 : 0;
}
