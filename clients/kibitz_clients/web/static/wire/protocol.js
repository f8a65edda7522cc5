// The protocol's constants that the client needs at run time.
// Generated from the protocol's models by `make schema`; do not edit.

/** Versions of the protocol that this client speaks. */
export const VERSIONS = [1];

/** The cost of requests under the rate limit; all others cost 1.
 * @type {Record<string, number>} */
export const COSTS = {
  "hello": 2,
  "list_games": 4,
  "list_lobbies": 2,
  "list_matches": 2,
  "ladder": 4,
  "host": 5,
  "seek": 5,
  "arrange": 2,
  "watch": 2,
  "wall": 2,
  "subscribe": 2,
  "move": 0,
  "comment": 2,
  "report": 4,
  "history": 4
};

/** Close codes after which the client must not reconnect, and why.
 * @type {Record<number, string>} */
export const FATAL_CLOSES = {
  "4000": "the game was opened in another window and continues there",
  "4003": "the server's operator closed the connection"
};
