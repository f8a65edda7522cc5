// The server's games and house bots: requested once, cached while the connection lasts.

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
      if (connection.state !== "online") this.#list = null; // the client may reconnect to another server
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
   * Return the title of a game, or its name while the title is unknown.
   * @param {string} name
   */
  title(name) {
    return this.#lines.get(name)?.title ?? name;
  }

  /** Return whether a game hides something from players. @param {string} name */
  hidden(name) {
    return Boolean(this.#lines.get(name)?.hidden);
  }

  /**
   * Return a game's texts for the reasons of results; empty while they are unknown.
   * @param {string} name
   * @returns {Record<string, string>}
   */
  endings(name) {
    return this.#lines.get(name)?.endings ?? {};
  }
}
