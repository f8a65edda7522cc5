// What the client needs of the protocol while it runs.
// Generated from the protocol's models by `make web-types`; do not edit.

/** Versions of the protocol that this client speaks. */
export const VERSIONS = [1];

/** What requests count for in the limit of messages a second; others count for 1.
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

/** Requests that may be sent again where the answer was lost. */
export const REPEATABLE = new Set([
  "list_games",
  "list_lobbies",
  "list_matches",
  "ladder",
  "join",
  "seek",
  "leave",
  "ready",
  "start",
  "close",
  "arrange",
  "watch",
  "unwatch",
  "wall",
  "subscribe",
  "unsubscribe",
  "rejoin",
  "move",
  "resign",
  "leave_match",
  "note",
  "report",
  "history"
]);

/** Close codes after which there is no coming back, and why.
 * @type {Record<number, string>} */
export const FATAL_CLOSES = {
  "4000": "the game was opened in another window, which goes on with it",
  "4003": "the server's operator ended the connection"
};
