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

/** What to do about a refusal that does not say so itself, by its code.
 * @type {Record<string, string>} */
export const HINTS = {
  "malformed": "send one JSON object a frame, as docs/protocol describes",
  "too_large": "keep a frame under 16 KiB",
  "unknown_type": "see docs/protocol for the messages that the server reads",
  "version": "update the client, or the server",
  "hello_first": "the first message of a connection is hello",
  "unauthorized": "make a token with `kibitz token new NAME` on the server's machine",
  "name_taken": "choose another name, or resume with the secret of the first welcome",
  "name_invalid": "use 1 to 32 letters, digits, spaces, dots, dashes or underscores",
  "rate_limited": "wait retry_after_ms and send less often",
  "limit": "close something first, or ask the operator to raise the limit",
  "unknown_game": "`kibitz games` lists the games",
  "bad_option": "`kibitz games NAME` explains the options",
  "bad_seats": "`kibitz games NAME` lists the numbers of players",
  "unknown_personality": "`kibitz bots` lists the house bots",
  "no_such_lobby": "`kibitz lobbies` lists the open ones",
  "no_such_match": "the match may be over and its record deleted",
  "no_such_player": "name a member of this lobby",
  "full": "wait for a place, or host a lobby of your own",
  "closed": "ask the host to let you in",
  "wrong_invite": "ask the host for the invite code",
  "not_member": "join the lobby first",
  "not_host": "only the host may do this",
  "not_ready": "wait until every member is ready",
  "wrong_state": "look at the lobby's state before you ask again",
  "not_watchable": "the host has not opened this to spectators",
  "no_comments": "speak of it when it is over",
  "not_seated": "only the player of that seat may do this; rejoin the match first",
  "not_your_turn": "wait for your_turn",
  "stale": "the match has moved on; answer the newest your_turn",
  "illegal": "choose one of the legal actions in your_turn",
  "over": "the match is over",
  "damaged": "it does not go on; the operator can look into it with `kibitz db check`",
  "elsewhere": "go on at the address that the refusal names",
  "unavailable": "the server is going down or starting; connect again in a while",
  "internal": "report this to the operator"
};
