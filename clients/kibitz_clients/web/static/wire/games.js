// The games that the server hosts, and its house bots: asked for once, kept while it runs.

/** @typedef {import("./connection.js").Connection} Connection */
/** @typedef {import("./messages.js").GameList} GameList */
/** @typedef {import("./messages.js").GameLine} GameLine */

export class Games {
  /** @type {Promise<GameList> | null} */
  #list = null;
  /** @type {Map<string, GameLine>} */
  #lines = new Map();

  /** @param {Connection} connection */
  constructor(connection) {
    this.connection = connection;
    connection.addEventListener("state", () => {
      if (connection.state !== "online") this.#list = null; // another server may come
    });
  }

  /** @returns {Promise<GameList>} */
  list() {
    this.#list ??= this.connection.request({ type: "list_games" }).then(
      (/** @type {GameList} */ list) => {
        this.#lines = new Map(list.games.map((game) => [game.name, game]));
        return list;
      },
      (error) => {
        this.#list = null;
        throw error;
      },
    );
    return this.#list;
  }

  /**
   * The title of a game, or its name while the title is unknown.
   * @param {string} name
   */
  title(name) {
    return this.#lines.get(name)?.title ?? name;
  }

  /**
   * A game's words for the reasons of results, empty while they are unknown.
   * @param {string} name
   * @returns {Record<string, string>}
   */
  endings(name) {
    return this.#lines.get(name)?.endings ?? {};
  }
}
