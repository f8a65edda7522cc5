// The messages of the protocol as types.
// Generated from the protocol's models by `make schema`; do not edit.

/**
 * Abort a running match, which is then neither rated nor replayed. Only for accounts that `kibitz
 * serve --operator NAME` names.
 */
export type Abort = {
  id: number;
  type: "abort";
  match: string;
  /** reason, for the record of the match */
  reason?: string;
};

/**
 * The server could not continue the match, or its operator ended it. Such a match is never rated.
 */
export type Aborted = {
  seq: number;
  at_ms: number;
  /**
   * key of the request that made it, to recognize a resent request: the start of the SHA-256 of the
   * player's key, the `instance` of its hello and the request's id, separated by line breaks;
   * absent if the server made the entry or hello had no `instance`
   */
  request?: string;
  kind: "abort";
  detail: string;
  /** whether the operator ended it */
  operator?: true;
};

/**
 * Comment on a running match that this connection watches or plays. It becomes an entry `comment`
 * of the match, at the ply that its author sees. `Spectating.comments` sets who can read it before
 * the end.
 */
export type AddComment = {
  id: number;
  type: "comment";
  match: string;
  /** one line of plain text */
  text: string;
};

/**
 * Host of an arranged lobby: play these matches. If a tag is sent again, its match is not played
 * again, so the request is safe to repeat. A host that was disconnected can repeat it to get the
 * results.
 */
export type Arrange = {
  id: number;
  type: "arrange";
  lobby: string;
  matches: Arrangement[];
};

/**
 * Answer to arrange, a line for each match in the order of the request. A line is null until its
 * match begins. After that it is the match's brief, with a result once the match is over. The
 * server never plays a `void` match, and never replays one whose result has the cause
 * `infrastructure`; to play it, arrange it under another tag.
 */
export type Arranged = {
  re: number;
  /**
   * unknown fields of the request that the server ignored; only for clients whose `hello` has a
   * newer version
   */
  ignored?: string[];
  type: "arranged";
  matches: (MatchBrief | null)[];
};

/**
 * A match that a host arranges: the game and the seating. The tag is the host's name for the match,
 * and identifies it as long as the lobby exists. Matches with the same `seed` have the same deal,
 * except in games with hidden information: there the deal depends on seed and tag.
 */
export type Arrangement = {
  tag: string;
  /** the game; `games` and `rotate` are ignored */
  item: ProgrammeItem;
  /** members of the lobby, by seat */
  players: string[];
};

/** Ask for the ladder of a game, or of every game with rated matches, from rank `first` on. */
export type AskLadder = {
  id: number;
  type: "ladder";
  game?: string;
  /** rank of the first line */
  first?: number;
  /** maximum number of lines per game */
  count?: number;
};

/**
 * Ask for the forensic report of a finished match. The lobby's host gets all seats at fault, other
 * players only their own. With `seat`, the report covers that seat, at fault or not.
 */
export type AskReport = {
  id: number;
  type: "report";
  match: string;
  seat?: number;
};

/** A level of a house bot for games against people; level 1 is the weakest of a game. */
export type BotLevel = {
  level: number;
  seats: number;
  /** parameters to append to the bot's name after a colon */
  parameters?: string;
};

/** A parameter that may follow a house bot's name: ``game/name:depth=4,time=0.2``. */
export type BotParameter = {
  name: string;
  type: "int" | "float" | "word";
  /** smallest accepted number */
  least?: number;
  /** largest accepted number; absent from servers before 0.2 */
  most?: number;
  /** accepted words; empty for a number */
  words?: string[];
  /** absent if it depends on the match */
  default?: number | string;
  summary: string;
};

/** A position of a finished match, from which another match continues. */
export type Branch = {
  /** the finished match */
  match: string;
  /** number of its plies that the other match repeats */
  ply: number;
};

/** The games that a bot can play; an empty list means all games. Humans can play all. */
export type Capabilities = {
  games?: GameClaim[];
  /** maximum number of matches at the same time */
  at_once?: number;
  /** whether it accepts matches without a clock */
  untimed?: boolean;
  /** minimum time per move; it refuses faster clocks */
  min_move_ms?: number;
  /** the program that plays; only the records of its matches name it */
  engine?: Engine;
};

/** The reason why a seat dropped out or a match ended. */
export type Cause = "rules" | "resignation" | "time" | "illegal" | "crash" | "disconnect" | "abandoned" | "takeover" | "kicked" | "aborted" | "infrastructure";

export type ClientMessage = 
  | Hello
  | ListGames
  | ListLobbies
  | ListMatches
  | AskLadder
  | Host
  | Join
  | Seek
  | Leave
  | Kick
  | Ready
  | Start
  | Rematch
  | Close
  | Arrange
  | Watch
  | Unwatch
  | Wall
  | Subscribe
  | Unsubscribe
  | Rejoin
  | Move
  | Resign
  | LeaveMatch
  | Note
  | AddComment
  | Abort
  | AskReport
  | History;

/** The time that a seat has left at the start of its next turn, in milliseconds. */
export type Clock = {
  main_ms?: number;
  bank_ms?: number;
  periods?: number;
};

/** Host: close the lobby; running matches finish first. */
export type Close = {
  id: number;
  type: "close";
  lobby: string;
};

/** The reason for a refusal, for programs. The message and the hint are for people. */
export type Code = "malformed" | "too_large" | "unknown_type" | "version" | "hello_first" | "unauthorized" | "name_taken" | "name_invalid" | "rate_limited" | "limit" | "unknown_game" | "bad_option" | "bad_seats" | "unknown_personality" | "no_such_lobby" | "no_such_match" | "no_such_player" | "full" | "closed" | "wrong_invite" | "not_member" | "not_host" | "not_ready" | "wrong_state" | "not_watchable" | "no_comments" | "not_seated" | "not_your_turn" | "stale" | "illegal" | "over" | "damaged" | "elsewhere" | "unavailable" | "internal";

/** A bot's remark on its own move. */
export type Comment = {
  /**
   * the value of the position for the seat that moved, in the bot's own unit; a proven win is
   * 1,000,000 minus the plies to it, a proven loss the negative
   */
  value?: number;
  depth?: number;
  nodes?: number;
  line?: string[];
  text?: string;
};

/**
 * A comment of a spectator or a player on the match (a bot's remark on its own move is in `move`).
 * When the match is over everybody may read it.
 */
export type Commented = {
  seq: number;
  at_ms: number;
  /**
   * key of the request that made it, to recognize a resent request: the start of the SHA-256 of the
   * player's key, the `instance` of its hello and the request's id, separated by line breaks;
   * absent if the server made the entry or hello had no `instance`
   */
  request?: string;
  kind: "comment";
  /** number of plies that the author had seen */
  ply: number;
  author: Player;
  /** seat of the author; absent for a spectator */
  seat?: number;
  /** viewers while the match runs */
  audience: "referee" | "spectators" | "everybody";
  /** one line; unprintable characters are escaped */
  text: string;
};

/** The policy for seats that misbehave or disconnect. */
export type Conduct = {
  /** maximum time that a seat may be disconnected */
  grace_ms?: number;
  /** whether a seat that does not reconnect in time forfeits or a house bot replaces it */
  on_leave?: "forfeit" | "replace";
  /** house bot that replaces a player */
  stand_in?: string;
  /** number of illegal moves after which a seat loses */
  max_illegal?: number;
};

/**
 * The request was carried out. `seq` is the number of the entry that it made, and `lobby` the key
 * of the lobby that it opened, or that a seek joined.
 */
export type Done = {
  re: number;
  /**
   * unknown fields of the request that the server ignored; only for clients whose `hello` has a
   * newer version
   */
  ignored?: string[];
  type: "done";
  seq?: number;
  lobby?: string;
  invite?: string;
};

/**
 * The program that plays for a player, as reported on connecting. The server does not verify it.
 */
export type Engine = {
  /** `game/name` for a house bot, otherwise a name chosen by the bot */
  name: string;
  /** version of the package, or one reported by the bot */
  version?: string;
  /** all parameters and their values */
  parameters?: { [name: string]: boolean | number | string };
  /** files of trained weights that it uses, with their SHA-256 */
  weights?: { [name: string]: string };
};

/** An entry of a match, and how it changes this viewer's view. */
export type Event = {
  type: "event";
  match: string;
  /** number of plies after this entry */
  ply: number;
  /** seat to act, or -1 when the match is over */
  to_act: number;
  entry: 
    | Moved
    | Flagged
    | Resigned
    | Left
    | Returned
    | Forfeited
    | Replaced
    | Noted
    | Commented
    | Aborted
    | Hidden;
  /** view after the entry if `views` is `every`; absent if the view has not changed */
  view?: { [name: string]: JsonValue };
  /**
   * merge patch of the view if `views` is `turn` and the game has hidden information, or of the
   * stage if `views` is `drawn`; absent if nothing that this viewer sees has changed
   */
  patch?: { [name: string]: JsonValue };
  /** clock of each seat; absent without a clock */
  clocks?: Clock[];
};

/** Answer to history. `more` is true if the match has entries after these. */
export type EventList = {
  re: number;
  /**
   * unknown fields of the request that the server ignored; only for clients whose `hello` has a
   * newer version
   */
  ignored?: string[];
  type: "events";
  match: string;
  /**
   * view right before the first of the events; absent if there are no events, or if `views` is
   * `none` or `drawn`
   */
  view?: { [name: string]: JsonValue };
  /** the same as a drawing if `views` is `drawn` */
  stage?: Stage;
  events: Event[];
  more: boolean;
};

/** The server is about to close this connection. */
export type Farewell = {
  type: "farewell";
  code: Code;
  message: string;
  retry_after_ms?: number;
};

/** The end of a match: the result, the seed behind the commitment, and the record's path. */
export type Finished = {
  type: "finished";
  match: string;
  lobby?: string;
  seq: number;
  result: Result;
  /** the referee's view, which reveals everything; empty if the game failed to produce it */
  view: { [name: string]: JsonValue };
  /** the same as a drawing if `views` is `drawn`; absent if nothing was hidden */
  stage?: Stage;
  seed: string;
  /** nonce that the commitment includes in addition to the seed */
  nonce?: string;
  /** path of the record on this server, served over HTTP */
  record: string;
};

/**
 * A seat's time ran out. Depending on the game, an entry `forfeit` follows, or an entry `move` by
 * the server, or nothing if the game skips the turn.
 */
export type Flagged = {
  seq: number;
  at_ms: number;
  kind: "flag";
  ply: number;
  seat: number;
  elapsed_ms: number;
  lag_ms?: number;
};

/**
 * A seat drops out for a reason outside the rules of the game. In a game with hidden information,
 * other viewers do not see the detail while the match runs.
 */
export type Forfeited = {
  seq: number;
  at_ms: number;
  /**
   * key of the request that made it, to recognize a resent request: the start of the SHA-256 of the
   * player's key, the `instance` of its hello and the request's id, separated by line breaks;
   * absent if the server made the entry or hello had no `instance`
   */
  request?: string;
  kind: "forfeit";
  seat: number;
  cause: Cause;
  detail?: string;
};

/** A game that a bot plays, with its supported numbers of players (empty: any number). */
export type GameClaim = {
  game: string;
  seats?: number[];
};

/** A game that the server hosts, with the JSON Schemas of its options, moves and views. */
export type GameLine = {
  name: string;
  title: string;
  summary: string;
  rules_version: number;
  seats: number[];
  hidden: boolean;
  /**
   * whether it is played in blocks: a block has as many matches as seats, and each player of a
   * group takes every seat once
   */
  balanced?: boolean;
  /** rule for legal actions, if turns do not list them */
  legal_rule?: string;
  options_schema: { [name: string]: JsonValue };
  move_schema: { [name: string]: JsonValue };
  /** absent from servers before 0.2 */
  view_schema?: { [name: string]: JsonValue };
  /**
   * phrases for the reasons of its results, to display after the winner's name or the word draw:
   * ``with five in a row``
   */
  endings?: { [name: string]: string };
};

export type GameList = {
  re: number;
  /**
   * unknown fields of the request that the server ignored; only for clients whose `hello` has a
   * newer version
   */
  ignored?: string[];
  type: "games";
  games: GameLine[];
  /** names of the house bots that the server can start */
  personalities: string[];
  /** the same house bots with the parameters that a host can set */
  bots?: HouseBotLine[];
};

/** The changes of the hall. */
export type HallChanged = {
  type: "hall_changed";
  /** merge patch of the message `hall` */
  patch: { [name: string]: JsonValue };
};

/**
 * The current state of the hall, which replaces all earlier news of it. Sent to clients that
 * subscribe, to clients that read too slowly to get every change, and if a change would be larger.
 * Each collection has the newest items, up to a limit; the counts are totals. Sort lobbies and
 * matches by `order`, largest first.
 */
export type HallNews = {
  type: "hall";
  lobbies: { [name: string]: LobbyBrief };
  /** running */
  matches: { [name: string]: MatchBrief };
  /** the most recently finished matches */
  finished: { [name: string]: MatchBrief };
  /** first lines of the ladder of each game that has one */
  ladders: { [name: string]: LadderTable };
  lobbies_in_all: number;
  matches_in_all: number;
};

/**
 * Identify the player. `token` names an account, `resume` a guest who reconnects. A viewer needs
 * neither: it can only watch and read.
 */
export type Hello = {
  id: number;
  type: "hello";
  versions: number[];
  name?: string;
  token?: string;
  resume?: string;
  /** ticket of a `redirect` from another server; valid for one hello */
  ticket?: string;
  /**
   * whether to connect only to watch, without a name; ignored if name, token, resume or ticket is
   * given
   */
  viewer?: boolean;
  kind?: "bot" | "human";
  /** name and version of the client program */
  agent?: string;
  /**
   * a random secret that a program generates when it starts and repeats in each later hello. It
   * distinguishes a reconnect from a second program of the player, and a resent request from a new
   * one
   */
  instance?: string;
  capabilities?: Capabilities;
  /**
   * which messages carry the view, in addition to those with a whole match: `turn`: the player's
   * own turns; `every`: all events too; `none`: no others, for programs that apply the rules
   * themselves; `drawn`: a stage, patches and picks, for programs that do not know the rules
   */
  views?: "turn" | "every" | "none" | "drawn";
};

/** An entry that this viewer may not see, with only its number and time. */
export type Hidden = {
  seq: number;
  at_ms: number;
  kind: "hidden";
};

/** Ask for the events of a match from number `first` on. They omit hidden information. */
export type History = {
  id: number;
  type: "history";
  match: string;
  first?: number;
  count?: number;
};

/** Open a lobby. The host has no seat in it until it joins. */
export type Host = {
  id: number;
  type: "host";
  settings: LobbySettings;
};

/** A house bot that can take a seat in a lobby, with its parameters. */
export type HouseBotLine = {
  /** ``game/name``, without parameters */
  name: string;
  /** supported numbers of seats; empty: all those of its game */
  seats: number[];
  summary: string;
  parameters: BotParameter[];
  /** levels of its game for which this bot is used, if any */
  levels?: BotLevel[];
};

/** A seat that the server fills with one of its own bot processes. */
export type HouseSeat = {
  kind: "house";
  personality: string;
};

/** A house bot that failed to start, or exited, in the current round. */
export type HouseTrouble = {
  seat: number;
  personality: string;
  failures: number;
  /** reason for the last failure */
  reason: string;
  /** true if the server no longer restarts it and has opened its seat to anyone */
  given_up: boolean;
};

/** Take a seat in a lobby, or enter as a spectator. Joining again has no effect. */
export type Join = {
  id: number;
  type: "join";
  lobby: string;
  invite?: string;
  role?: "player" | "spectator";
};

export type JsonValue = any;

export type Kick = {
  id: number;
  type: "kick";
  lobby: string;
  player: string;
};

/**
 * A player on a game's ladder. `key` is the key of an account or the name of a house bot. New
 * players start at a rating of 1500. A difference of 400 points means odds of 10 to 1. `deviation`
 * is one standard deviation of the rating.
 */
export type LadderLine = {
  place: number;
  key: string;
  name: string;
  kind: "bot" | "human" | "house";
  rating: number;
  deviation: number;
  matches: number;
  /** Unix time in seconds */
  last_played: number;
};

/**
 * A page of a game's ladder; `players` and `matches` count the whole ladder. Lines are sorted by
 * the rating minus two deviations, best first.
 */
export type LadderTable = {
  game: string;
  players: number;
  matches: number;
  lines: LadderLine[];
};

export type Ladders = {
  re: number;
  /**
   * unknown fields of the request that the server ignored; only for clients whose `hello` has a
   * newer version
   */
  ignored?: string[];
  type: "ladders";
  games: LadderTable[];
};

/** Limits on the time that a match forgives for delays of the network and of the server. */
export type Lag = {
  /** initial and maximum bank of each seat for network round trips; 0 forgives none */
  bank_ms?: number;
  /** amount added to a seat's bank after each of its moves, up to `bank_ms` */
  refill_ms?: number;
  /**
   * how long the server may stand still during turns, in addition to a quarter of the match's time,
   * before it aborts a match with clocks; a restart counts as 1000
   */
  standstill_ms?: number;
};

/** Leave a lobby and its running matches. */
export type Leave = {
  id: number;
  type: "leave";
  lobby: string;
};

/** Leave a match for good; the lobby's conduct decides what happens to the seat. */
export type LeaveMatch = {
  id: number;
  type: "leave_match";
  match: string;
};

/**
 * A seat's player disconnected; it forfeits or is replaced after `grace_ms`. `restart` marks the
 * first entry after a restart of the server. The clock of the open turn then starts over, which
 * counts toward the limits in `Setup.lag`. `kicked` means that the host of the lobby removed the
 * player. After that, or after `left`, the player cannot return.
 */
export type Left = {
  seq: number;
  at_ms: number;
  /**
   * key of the request that made it, to recognize a resent request: the start of the SHA-256 of the
   * player's key, the `instance` of its hello and the request's id, separated by line breaks;
   * absent if the server made the entry or hello had no `instance`
   */
  request?: string;
  kind: "leave";
  seat: number;
  reason: "left" | "disconnect" | "crash" | "kicked";
  grace_ms: number;
  restart?: true;
};

/** The server's limits, which clients must respect. */
export type Limits = {
  frame_bytes: number;
  messages_per_second: number;
  burst: number;
  lobbies: number;
  /** maximum number of house seats in all lobbies of one host */
  house_bots?: number;
};

export type ListGames = {
  id: number;
  type: "list_games";
};

/** List the open lobbies page by page, oldest first. */
export type ListLobbies = {
  id: number;
  type: "list_lobbies";
  /** `last` of the previous page */
  after?: number;
  /** maximum number of lobbies on the page */
  limit?: number;
};

/**
 * List, page by page, the running matches that this player may watch, oldest first. The last page
 * also has the latest finished ones, newest first.
 */
export type ListMatches = {
  id: number;
  type: "list_matches";
  lobby?: string;
  /** `last` of the previous page */
  after?: number;
  /** maximum number of running matches on the page */
  limit?: number;
};

/** A lobby as shown in lists. */
export type LobbyBrief = {
  lobby: string;
  name: string;
  host: string;
  state: "gathering" | "running" | "finished" | "closed";
  joinable: "open" | "invite" | "closed";
  watchable: boolean;
  games: string[];
  members: number;
  /** number of human members */
  people?: number;
  places: number;
  /** terms of the seek, if `seek` opened the lobby */
  seek?: SeekTerms;
  /** position by age, only in news of the hall; newer items have larger numbers */
  order?: number;
};

/** The changes of a lobby. Only `match_started` and `match_ended` change its `live`. */
export type LobbyChanged = {
  type: "lobby_changed";
  lobby: string;
  /** merge patch of the lobby */
  patch: { [name: string]: JsonValue };
};

/**
 * The lobby closed, or this player was kicked, or left it on another connection. `failed` means
 * that the server could not continue the lobby because of an internal error.
 */
export type LobbyClosed = {
  type: "lobby_closed";
  lobby: string;
  reason: "closed" | "kicked" | "expired" | "failed";
};

/** A page of the open lobbies. */
export type LobbyList = {
  re: number;
  /**
   * unknown fields of the request that the server ignored; only for clients whose `hello` has a
   * newer version
   */
  ignored?: string[];
  type: "lobbies";
  lobbies: LobbyBrief[];
  /** whether another page follows */
  more?: boolean;
  /** value of `after` for the next page */
  last?: number;
};

/**
 * The current state of a lobby, which replaces all earlier news of it. Sent to clients that host,
 * join, enter or reconnect, and to clients that read too slowly to get every change. All other
 * updates are sent as changes.
 */
export type LobbyNews = {
  type: "lobby";
  lobby: LobbyView;
};

/** The settings of a lobby, as its host requests them. */
export type LobbySettings = {
  name?: string;
  /** whether lists include the lobby */
  listed?: boolean;
  /** who may join: anyone, players with the invite code, or only players with a reserved seat */
  joinable?: "open" | "invite" | "closed";
  /** whether spectators are allowed */
  watchable?: boolean;
  seats: (OpenSeat | ReservedSeat | HouseSeat)[];
  /**
   * the matches to play. In an arranged lobby it may be empty, and only tells players which games
   * to expect
   */
  programme: ProgrammeItem[];
  /**
   * position of a finished match from which the match of this lobby continues. The programme then
   * has one item with `games` 1, without `rotate`, `options` and `seed`, and the game and the
   * number of seats of that match, whose options apply. Never rated
   */
  branch?: Branch;
  /** whether the host arranges each match, from the start of the lobby until it closes */
  arranged?: boolean;
  /**
   * whether matches count for the server's ladder; only for accounts, and under conditions that the
   * server checks
   */
  rated?: boolean;
  /** maximum number of matches that run at the same time */
  at_once?: number;
  /** whether to start automatically once all seats are taken and all members are ready */
  auto_start?: boolean;
  conduct?: Conduct;
  lag?: Lag;
  spectating?: Spectating;
  /**
   * SHA-256 of the text of a master seed, from which the host derives the seeds of all matches, and
   * which it publishes at the end. The server displays this commitment but does not check it
   */
  commitment?: string;
};

/**
 * A lobby as its members and spectators see it. Only the host and members see `invite`, and only
 * the host sees the seeds in the programme.
 */
export type LobbyView = {
  lobby: string;
  settings: LobbySettings;
  host: string;
  state: "gathering" | "running" | "finished" | "closed";
  /** number of the round: 1, plus one for each rematch */
  round: number;
  /** whether `seek` opened the lobby, so that every player may ask for a rematch */
  seek?: boolean;
  /** members by player key; sort them by `seat` */
  members: { [name: string]: Member };
  spectators?: number;
  invite?: string;
  /** total number of matches in this round */
  planned: number;
  done: number;
  /** number of `done` matches that were not played */
  void?: number;
  /** why the rest of this round is not played, if the server failed in several matches in a row */
  stopped?: string;
  /** house bots that failed in this round, by seat */
  house_trouble?: HouseTrouble[];
  /** running matches by key, in any order */
  live: { [name: string]: MatchBrief };
  /** lines by player key; sort them by points, wins, fewer matches, name and key */
  standings: { [name: string]: Standing };
};

/** A match as shown in lists. */
export type MatchBrief = {
  match: string;
  lobby?: string;
  number?: number;
  /** block of the programme that the match belongs to */
  block?: number;
  game: string;
  seats: Player[];
  ply?: number;
  time_control?: TimeControl;
  watchable?: boolean;
  result?: Result;
  /** the host's name for an arranged match */
  tag?: string;
  /** true if the match will not be played, because a player left or the lobby was closed */
  void?: boolean;
  /** position by age, only in news of the hall; newer items have larger numbers */
  order?: number;
};

/** A match of a lobby is over and no longer in `live`. */
export type MatchEnded = {
  type: "match_ended";
  lobby: string;
  match: MatchBrief;
};

/** A page of the running matches; the last page has the finished matches too. */
export type MatchList = {
  re: number;
  /**
   * unknown fields of the request that the server ignored; only for clients whose `hello` has a
   * newer version
   */
  ignored?: string[];
  type: "matches";
  matches: MatchBrief[];
  /** whether another page follows */
  more?: boolean;
  /** value of `after` for the next page */
  last?: number;
};

/** The report on one match, limited to the seats that the reader may know about. */
export type MatchReport = {
  match: string;
  game: string;
  cause: Cause;
  reason?: string;
  plies: number;
  /** the seats at fault, or the requested one */
  seats: SeatReport[];
};

/** A match of a lobby has begun and is now in `live`. Spectators can `watch` it. */
export type MatchStarted = {
  type: "match_started";
  lobby: string;
  match: MatchBrief;
};

/** A player in a lobby; `seat` is a seat of the lobby, not of a match. */
export type Member = {
  player: string;
  name: string;
  kind: "bot" | "human" | "house";
  seat: number;
  ready: boolean;
  connected: boolean;
  /**
   * name and version of the program that plays for it, as reported on joining; empty if it reported
   * none
   */
  version?: string;
};

/** Play an action at `ply`. A move resent with the same id and ply is applied only once. */
export type Move = {
  id: number;
  type: "move";
  match: string;
  ply: number;
  action: { [name: string]: boolean | number | string };
  comment?: Comment;
};

/** A seat's action and its time: charged = elapsed - allowance, but never below 0. */
export type Moved = {
  seq: number;
  at_ms: number;
  kind: "move";
  ply: number;
  seat: number;
  action: { [name: string]: boolean | number | string };
  elapsed_ms?: number;
  allowance_ms?: number;
  wait_ms?: number;
  lag_ms?: number;
  id?: number;
  comment?: Comment;
};

/** A match that this player cannot watch on a wall. */
export type NotWatched = {
  match: string;
  code: Code;
  message: string;
};

/**
 * Add a line to the seat's own record, such as the end of stderr. Others see only that the entry
 * exists.
 */
export type Note = {
  id: number;
  type: "note";
  match: string;
  text: string;
};

/**
 * A line for a seat's own record: output of its bot, such as the tail of stderr, or a move that the
 * server refused. Only its owner sees it, and the host once the match is over.
 */
export type Noted = {
  seq: number;
  at_ms: number;
  /**
   * key of the request that made it, to recognize a resent request: the start of the SHA-256 of the
   * player's key, the `instance` of its hello and the request's id, separated by line breaks;
   * absent if the server made the entry or hello had no `instance`
   */
  request?: string;
  kind: "note";
  seat: number;
  text: string;
  /** move that was refused; if present, `text` says why */
  refused?: RefusedMove;
};

/** A seat for anyone who joins. */
export type OpenSeat = {
  kind: "open";
};

/**
 * A legal action, and the cells that a person picks, in order, to play it. No action's cells are a
 * prefix of another's. A single legal action, such as a pass, may have no cells.
 */
export type Pick = {
  cells: string[];
  action: { [name: string]: JsonValue };
};

/** The player in a seat: an account, a guest or a house bot. */
export type Player = {
  player: string;
  name: string;
  kind: "bot" | "human" | "house";
};

/**
 * A number of matches of one game with n seats, among m members who can play it. With `rotate`,
 * match j of the first m matches seats the members j, j+1, .., j+n-1 (modulo m) in order, so that
 * every member takes every seat once. The next m matches seat the same groups with each member
 * moved up by one seat, until every member of a group has had every seat of it. Then other groups
 * follow in the same way, so that over time all members meet. A *balanced* game, in which the first
 * move or the deal matters too much, is played in blocks instead. In each block of n matches, the
 * members of one group take all seats in turn, with the same deal if that reveals no secrets. Then
 * the next group follows. `games` must be a multiple of n. Without `rotate`, the first n members
 * play all matches in the same seats.
 */
export type ProgrammeItem = {
  game: string;
  options?: { [name: string]: boolean | number | string | (number | string)[] };
  seats?: number;
  /** number of matches; default: one, or one block of a balanced game */
  games?: number;
  rotate?: boolean;
  time_control?: TimeControl;
  /**
   * seed of the first deal: an integer below 2^53 or 64 hexadecimal digits. Later deals use the
   * following integers. In games with hidden information all seeds are hashes of it, and anyone who
   * can guess it knows what is hidden
   */
  seed?: number | string;
};

export type Ready = {
  id: number;
  type: "ready";
  lobby: string;
  ready?: boolean;
};

/** The last message received from a seat. */
export type Received = {
  kind: "move" | "refused" | "resign" | "fault";
  ply: number;
  /** time since the start of the match */
  at_ms: number;
  /** the action's JSON, which may be truncated */
  action?: string;
  /** code of the refusal */
  code?: Code;
  /** reason for the refusal, or the failure that the bot reported */
  detail?: string;
};

/** The address of the server in the same cluster that can carry out the request. */
export type Redirect = {
  /** websocket address of that server */
  url: string;
  /** ticket for one `hello` there, valid for 30 seconds */
  ticket: string;
};

/** The server did not carry out the request; nothing has changed. */
export type Refused = {
  re: number;
  /**
   * unknown fields of the request that the server ignored; only for clients whose `hello` has a
   * newer version
   */
  ignored?: string[];
  type: "refused";
  code: Code;
  message: string;
  hint?: string;
  retry_after_ms?: number;
  /** current ply, with `stale` */
  ply?: number;
  /**
   * server to which to send the request instead, with `elsewhere`; absent if the player may not go
   * there
   */
  redirect?: Redirect;
};

/** An illegal move that the server refused, as the seat sent it. */
export type RefusedMove = {
  ply: number;
  code: Code;
  /** the action's JSON, truncated if it is too long */
  action: string;
  id: number;
};

/** Take the player's seat in a match for this connection; an older connection loses it. */
export type Rejoin = {
  id: number;
  type: "rejoin";
  match: string;
};

/**
 * Host: play the finished programme again with the seats rotated by one. In a lobby that `seek`
 * opened, every player may send this. It also marks the player as ready.
 */
export type Rematch = {
  id: number;
  type: "rematch";
  lobby: string;
};

/** Another player took over a seat. */
export type Replaced = {
  seq: number;
  at_ms: number;
  kind: "replace";
  seat: number;
  player: Player;
  cause: Cause;
};

export type Reported = {
  re: number;
  /**
   * unknown fields of the request that the server ignored; only for clients whose `hello` has a
   * newer version
   */
  ignored?: string[];
  type: "reported";
  report: MatchReport;
};

/** A seat reserved for one player. */
export type ReservedSeat = {
  kind: "reserved";
  name: string;
  /** key of that player; if absent, the seat is for any player with this name */
  player?: string;
};

/** Resign a match. A bot that failed can report its fault, which the result then includes. */
export type Resign = {
  id: number;
  type: "resign";
  match: string;
  fault?: "crash" | "illegal";
  /** description of the failure; only with `fault` */
  detail?: string;
};

export type Resigned = {
  seq: number;
  at_ms: number;
  /**
   * key of the request that made it, to recognize a resent request: the start of the SHA-256 of the
   * player's key, the `instance` of its hello and the request's id, separated by line breaks;
   * absent if the server made the entry or hello had no `instance`
   */
  request?: string;
  kind: "resign";
  seat: number;
};

/** The end of a match. */
export type Result = {
  seats: SeatResult[];
  /** what ended the match */
  cause: Cause;
  /** reason in the game's words, such as `goal` or `repetition` */
  reason?: string;
  plies: number;
};

/**
 * A seat's player reconnected, or switched to another connection. `takeover` means that the old
 * connection was open and belonged to another program, which sent another `instance` in its hello,
 * or none.
 */
export type Returned = {
  seq: number;
  at_ms: number;
  kind: "return";
  seat: number;
  takeover?: true;
};

/** The report on one seat. */
export type SeatReport = {
  seat: number;
  player: Player;
  /** why it dropped out; absent if it did not */
  cause?: Cause;
  detail?: string;
  /** the last `your_turn` message */
  sent?: { [name: string]: JsonValue };
  received?: Received;
  /** all moves refused as illegal */
  refused: Received[];
  /** the last lines of its bot's output */
  notes: string[];
  ledger: Spent[];
  /** number of earlier turns, which `ledger` omits */
  earlier?: number;
};

/** The result of one seat; `rank` 1 is best, and ties share a rank. */
export type SeatResult = {
  rank: number;
  score: number;
  /** score of the game, if it keeps one */
  points?: number;
  /** why the seat dropped out before the end, if it did */
  cause?: Cause;
  detail?: string;
  /** whether another connection took over the seat while the first was open */
  takeover?: true;
};

/**
 * Seek opponents on these terms. The player joins the lobby of another seek on the same terms. If
 * there is none, the server opens a listed lobby with a seat for this player and open seats for the
 * others. The lobby starts automatically once everybody is ready. It closes when its opener leaves,
 * when a player leaves after the start, or when nobody has joined, or asked for a rematch, for
 * `wait_s` seconds. A player can have one seek at a time; repeating it while it is open or in play
 * returns the same lobby.
 */
export type Seek = {
  id: number;
  type: "seek";
  terms: SeekTerms;
  wait_s?: number;
};

/** The terms of a player who seeks opponents: one item of a programme, open to anyone. */
export type SeekTerms = {
  /** the match to play; must not have a seed */
  item: ProgrammeItem;
  /** whether the match is rated, as in a lobby's settings; only for accounts */
  rated?: boolean;
};

export type ServerMessage = 
  | Welcome
  | Done
  | Refused
  | GameList
  | LobbyList
  | MatchList
  | Ladders
  | Arranged
  | Walled
  | Reported
  | EventList
  | Event
  | Snapshot
  | YourTurn
  | Finished
  | LobbyNews
  | LobbyChanged
  | MatchStarted
  | MatchEnded
  | LobbyClosed
  | HallNews
  | HallChanged
  | Farewell;

/**
 * A match as this viewer sees it now; the next event is `seq` + 1. Sent to players when a match
 * starts, after `rejoin` and `watch`, and in place of events that a spectator was too slow to read.
 */
export type Snapshot = {
  type: "snapshot";
  why: "started" | "rejoined" | "watching" | "lagged";
  match: string;
  lobby?: string;
  number?: number;
  /** block of the programme that the match belongs to */
  block?: number;
  game: string;
  rules_version: number;
  options: { [name: string]: boolean | number | string | (number | string)[] };
  seats: Player[];
  /** disconnected seats */
  away?: number[];
  you?: number;
  seq: number;
  ply: number;
  to_act: number;
  view: { [name: string]: JsonValue };
  time_control: TimeControl;
  clocks?: Clock[];
  /**
   * time until the flag of the seat to act falls; absent without a clock, after the end, and for
   * spectators who see the match with a delay
   */
  left_ms?: number;
  conduct: Conduct;
  spectating: Spectating;
  commitment: string;
  result?: Result;
  /** position of another match from which this one continues */
  branch?: Branch;
  /** view as a drawing if `views` is `drawn` */
  stage?: Stage;
};

/** The view and delay of spectators of a live match. After the match they can see everything. */
export type Spectating = {
  mode?: "off" | "public" | "shoulder" | "referee";
  /** seat whose viewpoint `shoulder` shows */
  seat?: number;
  delay_plies?: number;
  delay_ms?: number;
  /**
   * who sees comments on a running match, including bots' remarks on their moves: `after` shows
   * them when the match is over, `spectators` immediately to spectators, `everybody` immediately to
   * players too; `none` refuses comments. The remarks of house bots that play alone are always
   * shown immediately, comments on other rated matches never
   */
  comments?: "none" | "after" | "spectators" | "everybody";
};

/** The time of one turn of a seat; charged = elapsed - allowance, but never below 0. */
export type Spent = {
  ply: number;
  elapsed_ms: number;
  allowance_ms?: number;
  charged_ms: number;
  /** time that the server stood still meanwhile, not included in `elapsed_ms` */
  lag_ms?: number;
  /** main time and bank after the turn; absent without a clock */
  left_ms?: number;
  flagged?: boolean;
};

/** A drawing of a position as a viewer sees it. */
export type Stage = {
  lattice: "square" | "hex";
  /** cells by name, in any order */
  cells: { [name: string]: StageCell };
  labels: StageLabel[];
  marks: StageMark[];
  /** lines below the board, such as the score */
  text: string[];
  /** color of each seat; empty if pieces have no colors */
  colours: ("black" | "white")[];
};

/** A cell of the board and what is on it. Each field is absent if there is nothing to draw. */
export type StageCell = {
  x: number;
  y: number;
  /**
   * kind of ground: hole, home, goal, point, floor, fog, seen, rock, wreck, gone, number or button
   */
  kind: string;
  /** seat that owns the piece on it */
  owner?: number;
  /** seat whose color tints the ground */
  tint?: number;
  /** up to three characters to draw on it */
  glyph?: string;
  /** degrees clockwise from the top */
  heading?: number;
  /** color of the piece; if absent, the color of its owner */
  colour?: "black" | "white";
};

/** A label at the edge of the board, such as the letter of a column. */
export type StageLabel = {
  text: string;
  x: number;
  y: number;
};

/**
 * A highlight of cells, in order, such as the ends or the path of the last move, or a winning line.
 */
export type StageMark = {
  /** from, to, path, win or vision */
  kind: string;
  /** names of cells */
  cells: string[];
  seat?: number;
};

/**
 * A line of a lobby's table of the current round. A match gives each seat the share of the other
 * seats that it has beaten; ties count half. With two seats the winner gets 1, and a draw gives
 * both 0.5. With n seats the best gets 1, the next (n-2)/(n-1), the last 0. A seat wins if it alone
 * has the best rank, and draws if it shares that rank.
 */
export type Standing = {
  player: string;
  name: string;
  played: number;
  wins: number;
  draws: number;
  losses: number;
  points: number;
  /** number of times that this player's seat dropped out, by cause */
  causes?: { [name: string]: number };
};

/**
 * Host: start the programme. Unless the lobby is arranged, all seats must be taken and all members
 * ready.
 */
export type Start = {
  id: number;
  type: "start";
  lobby: string;
};

/**
 * Subscribe to a topic. The server sends all of it once (`hall`), then its changes
 * (`hall_changed`). The hall is the public part of `list_lobbies`, `list_matches` and `ladder`.
 */
export type Subscribe = {
  id: number;
  type: "subscribe";
  topic: "hall";
};

/** A time control, in milliseconds; all zero means no clock. */
export type TimeControl = {
  /** free time per move, which is not carried over */
  move_ms?: number;
  /** main time of a seat for the whole match */
  main_ms?: number;
  /** time added to the main time after each of the seat's moves */
  increment_ms?: number;
  /** overage bank, used after free time and main time */
  bank_ms?: number;
  /** number of byo-yomi periods, used last */
  periods?: number;
  /** length of each byo-yomi period */
  period_ms?: number;
};

export type Unsubscribe = {
  id: number;
  type: "unsubscribe";
  topic: "hall";
};

export type Unwatch = {
  id: number;
  type: "unwatch";
  match: string;
};

/**
 * Watch exactly these matches as a spectator, and stop watching all others. A snapshot of each
 * newly watched match follows, as fast as the client reads them. The answer lists the matches that
 * cannot be watched.
 */
export type Wall = {
  id: number;
  type: "wall";
  matches: string[];
};

/** Answer to wall: the watched matches, and the reasons why the others are not watched. */
export type Walled = {
  re: number;
  /**
   * unknown fields of the request that the server ignored; only for clients whose `hello` has a
   * newer version
   */
  ignored?: string[];
  type: "walled";
  watching: string[];
  refused: NotWatched[];
};

/** Watch a match from its current state on. */
export type Watch = {
  id: number;
  type: "watch";
  match: string;
};

/**
 * Answer to hello. `resume` is this player's secret for reconnecting. It is empty for a player
 * admitted by a ticket, whose earlier secret remains valid.
 */
export type Welcome = {
  re: number;
  /**
   * unknown fields of the request that the server ignored; only for clients whose `hello` has a
   * newer version
   */
  ignored?: string[];
  type: "welcome";
  version: number;
  player: string;
  name: string;
  kind: "bot" | "human" | "house";
  resume: string;
  server: string;
  limits: Limits;
  /** unfinished matches where this player has a seat */
  seats: string[];
  /** lobbies where this player is a member */
  lobbies: string[];
  /** whether this connection can only watch and read */
  viewer?: boolean;
  /**
   * websocket addresses of other servers of the same cluster, for reconnecting if this one is down
   */
  nodes?: string[];
};

/** All that a player needs to move. Resent after a rejoin while the turn lasts. */
export type YourTurn = {
  type: "your_turn";
  match: string;
  game: string;
  seat: number;
  ply: number;
  /** the player's view, as the game's `View` model; absent if `views` is `none` or `drawn` */
  view?: { [name: string]: JsonValue };
  /** all legal actions; absent if `legal_rule` describes them or `picks` lists them */
  legal?: { [name: string]: JsonValue }[];
  /** all legal actions, each with the cells of the stage to pick for it, if `views` is `drawn` */
  picks?: Pick[];
  /** rule for legal actions, if `legal` does not list them */
  legal_rule?: string;
  legal_count: number;
  clocks?: Clock[];
  /** time until this player's flag falls; absent without a clock */
  left_ms?: number;
};

