// The messages of the protocol as types.
// Generated from the protocol's models by `make web-types`; do not edit.

/**
 * Abort a running match: it is neither rated nor played again. Only for the operator's accounts,
 * which `kibitz serve --operator NAME` sets.
 */
export type Abort = {
  id: number;
  type: "abort";
  match: string;
  /** why, for the record of the match */
  reason?: string;
};

/** The server could not continue, or its operator ended the match; it is never rated. */
export type Aborted = {
  seq: number;
  at_ms: number;
  kind: "abort";
  detail: string;
  /** whether the operator ended it */
  operator?: true;
};

/**
 * Comment on a running match that this connection watches or plays. It becomes an entry `comment`
 * of the match, tied to the ply that its author sees; `Spectating.comments` sets who sees it before
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
 * Host of an arranged lobby: play these matches. Known tags are not played again. So repeating the
 * request is safe, and returns the results to a host that was disconnected.
 */
export type Arrange = {
  id: number;
  type: "arrange";
  lobby: string;
  matches: Arrangement[];
};

/**
 * Answer to arrange, a line for each match in the order of the request. A line is null while its
 * match waits to begin. Otherwise it is the brief, with a result once the match is over. A `void`
 * match will not be played, and one whose result has the cause `infrastructure` will not be
 * replayed; to play it anyway, arrange it under another tag.
 */
export type Arranged = {
  re: number;
  /**
   * fields of the request that this server does not know and has ignored; only for clients that
   * said in `hello` that they speak a newer version
   */
  ignored?: string[];
  type: "arranged";
  matches: (MatchBrief | null)[];
};

/**
 * A match that a host arranges: the game and the seating. The tag is the host's name for the match,
 * and identifies it for as long as the lobby exists. Matches with the same `seed` are played from
 * one deal. In a game with hidden information each tag has a deal of its own, determined by seed
 * and tag.
 */
export type Arrangement = {
  tag: string;
  /** `games` and `rotate` mean nothing here */
  item: ProgrammeItem;
  /** members of the lobby, by seat */
  players: string[];
};

/** The ladder of a game, or of every game where a rated match was played, from `first` on. */
export type AskLadder = {
  id: number;
  type: "ladder";
  game?: string;
  /** the place of the first line */
  first?: number;
  /** lines of each game */
  count?: number;
};

/**
 * The forensic report of a finished match. The host of the lobby gets every seat at fault, other
 * players only their own. With `seat` it covers that one, at fault or not.
 */
export type AskReport = {
  id: number;
  type: "report";
  match: string;
  seat?: number;
};

/** A level at which a house bot plays against people; level 1 is the weakest of its game. */
export type BotLevel = {
  level: number;
  seats: number;
  /** what follows the bot's name and a colon */
  parameters?: string;
};

/** A parameter that may follow a house bot's name: ``game/name:depth=4,time=0.2``. */
export type BotParameter = {
  name: string;
  type: "int" | "float" | "word";
  /** the smallest number that is accepted */
  least?: number;
  /** the largest number that is accepted; absent from servers before 0.2 */
  most?: number;
  /** the words that are accepted; empty for a number */
  words?: string[];
  /** absent where it depends on the match */
  default?: number | string;
  summary: string;
};

/** The games that a bot can play; humans can play all. No games listed means every game. */
export type Capabilities = {
  games?: GameClaim[];
  /** matches at the same time */
  at_once?: number;
  /** whether it plays without a clock */
  untimed?: boolean;
  /** refuses clocks that leave less on a move */
  min_move_ms?: number;
  /** what plays; the records of its matches name it, and nothing else does */
  engine?: Engine;
};

/** The reason why a seat, or a match, ended. */
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

/** The reason for a refusal. Programs switch on it; people read message and hint. */
export type Code = "malformed" | "too_large" | "unknown_type" | "version" | "hello_first" | "unauthorized" | "name_taken" | "name_invalid" | "rate_limited" | "limit" | "unknown_game" | "bad_option" | "bad_seats" | "unknown_personality" | "no_such_lobby" | "no_such_match" | "no_such_player" | "full" | "closed" | "wrong_invite" | "not_member" | "not_host" | "not_ready" | "wrong_state" | "not_watchable" | "no_comments" | "not_seated" | "not_your_turn" | "stale" | "illegal" | "over" | "damaged" | "elsewhere" | "unavailable" | "internal";

/** A bot's remark on its own move. */
export type Comment = {
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
  kind: "comment";
  /** plies that the author had seen */
  ply: number;
  author: Player;
  /** the author's seat; absent for a spectator */
  seat?: number;
  /** who sees it while the match runs */
  audience: "referee" | "spectators" | "everybody";
  /** one line; characters that do not print are written as escapes */
  text: string;
};

/** The policy for seats that misbehave or disconnect. */
export type Conduct = {
  /** how long a seat may be disconnected */
  grace_ms?: number;
  /** whether a seat that stays away loses or a house bot plays on */
  on_leave?: "forfeit" | "replace";
  /** the house bot that plays on */
  stand_in?: string;
  /** illegal moves that a seat may send before it loses */
  max_illegal?: number;
};

/**
 * The request was carried out. `seq` numbers the entry that it made; `lobby` is the lobby that it
 * opened, or that of a seek.
 */
export type Done = {
  re: number;
  /**
   * fields of the request that this server does not know and has ignored; only for clients that
   * said in `hello` that they speak a newer version
   */
  ignored?: string[];
  type: "done";
  seq?: number;
  lobby?: string;
  invite?: string;
};

/** The program that plays for a player, as reported on connecting; not verified. */
export type Engine = {
  /** of a house bot `game/name`, else the bot's own name */
  name: string;
  /** of the package, or what the bot says of its own */
  version?: string;
  /** all of them, with their values */
  parameters?: { [name: string]: boolean | number | string };
  /** files of trained weights that it plays by, and the SHA-256 of each */
  weights?: { [name: string]: string };
};

/** Entry `entry.seq` of a match, and the changes that it makes for this viewer. */
export type Event = {
  type: "event";
  match: string;
  /** plies played after this entry */
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
  /**
   * the view after it, for who said `views` `every`; absent where the entry changed nothing seen
   */
  view?: { [name: string]: JsonValue };
  /**
   * the merge patch of what this viewer sees: of the view, for who said `views` `turn` in a game
   * that hides something; of the stage, for who said `drawn`; absent where nothing seen has changed
   */
  patch?: { [name: string]: JsonValue };
  /** per seat; absent without a clock */
  clocks?: Clock[];
};

/** Answer to history. `more` means that the match has entries after the last one given. */
export type EventList = {
  re: number;
  /**
   * fields of the request that this server does not know and has ignored; only for clients that
   * said in `hello` that they speak a newer version
   */
  ignored?: string[];
  type: "events";
  match: string;
  /**
   * what this viewer saw right before the first of the events; absent where there is none, and for
   * who said `views` `none` or `drawn`
   */
  view?: { [name: string]: JsonValue };
  /** the same as a drawing, for who said `views` `drawn` */
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

/** The end of a match: the result, the seed behind the commitment, and the record's address. */
export type Finished = {
  type: "finished";
  match: string;
  lobby?: string;
  seq: number;
  result: Result;
  /** the referee's view: all is revealed; empty where the game failed to show it */
  view: { [name: string]: JsonValue };
  /** the same as a drawing, for who said `views` `drawn`; absent where nothing was hidden */
  stage?: Stage;
  seed: string;
  /** what the commitment was made of besides the seed */
  nonce?: string;
  /** path of the record on this server, over plain HTTP */
  record: string;
};

/**
 * A seat's time ran out. By the game's policy an entry `forfeit` follows, or an entry `move` that
 * the server made, or nothing if the game skips the turn, which has then passed.
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
 * A seat drops out for a reason that the rules of the game did not cause. In a game with hidden
 * information other viewers get no detail while the match runs.
 */
export type Forfeited = {
  seq: number;
  at_ms: number;
  kind: "forfeit";
  seat: number;
  cause: Cause;
  detail?: string;
};

/** A game that a bot plays, and with how many players (any number when empty). */
export type GameClaim = {
  game: string;
  seats?: number[];
};

/** A game that the server hosts, with the JSON Schema of its options, move and view. */
export type GameLine = {
  name: string;
  title: string;
  summary: string;
  rules_version: number;
  seats: number[];
  hidden: boolean;
  /**
   * whether it is played in blocks: as many matches as there are seats, in which a group takes
   * every seat in turn
   */
  balanced?: boolean;
  /** which actions are legal, where turns do not list them */
  legal_rule?: string;
  options_schema: { [name: string]: JsonValue };
  move_schema: { [name: string]: JsonValue };
  /** absent from servers before 0.2 */
  view_schema?: { [name: string]: JsonValue };
  /**
   * how people say the reasons of its results, behind who won or that it is drawn: ``with five in a
   * row``
   */
  endings?: { [name: string]: string };
};

export type GameList = {
  re: number;
  /**
   * fields of the request that this server does not know and has ignored; only for clients that
   * said in `hello` that they speak a newer version
   */
  ignored?: string[];
  type: "games";
  games: GameLine[];
  /** house bots that the server can start */
  personalities: string[];
  /** the same with all that a host may choose of them */
  bots?: HouseBotLine[];
};

/** The changes of the hall. */
export type HallChanged = {
  type: "hall_changed";
  /** the merge patch of the news `hall` */
  patch: { [name: string]: JsonValue };
};

/**
 * The hall as it is now, which replaces all earlier news of it. Sent to clients that subscribe, to
 * those that read too slowly for the changes, and when the changes would be larger. Each collection
 * has the newest items, up to a limit; the counts give the totals. Sort lobbies and matches by
 * `order`, the largest first.
 */
export type HallNews = {
  type: "hall";
  lobbies: { [name: string]: LobbyBrief };
  /** running */
  matches: { [name: string]: MatchBrief };
  /** those that ended last */
  finished: { [name: string]: MatchBrief };
  /** the first lines of each game that has a ladder */
  ladders: { [name: string]: LadderTable };
  lobbies_in_all: number;
  matches_in_all: number;
};

/**
 * Identify the player. `token` names an account, `resume` a guest who reconnects. A viewer needs
 * none of them: it watches and reads, and can do nothing else.
 */
export type Hello = {
  id: number;
  type: "hello";
  versions: number[];
  name?: string;
  token?: string;
  resume?: string;
  /** lets a player in, once, who was sent here by another server (`redirect`) */
  ticket?: string;
  /** comes only to watch, without a name; counts where no name, token, resume or ticket is given */
  viewer?: boolean;
  kind?: "bot" | "human";
  /** name and version of the client program */
  agent?: string;
  /**
   * a secret that a program draws when it starts, and says again when it comes back: so that a
   * reconnect is told from a seat that somebody else takes over
   */
  instance?: string;
  capabilities?: Capabilities;
  /**
   * which messages, besides those of a whole match, bring the view: the own turns; every event too;
   * none, for a program that follows the rules by itself; or as a drawing, for one that knows no
   * rules: a stage, patches and picks
   */
  views?: "turn" | "every" | "none" | "drawn";
};

/** An entry that this viewer may not see, with only its number and time. */
export type Hidden = {
  seq: number;
  at_ms: number;
  kind: "hidden";
};

/** Ask for the events of a match from `first` on, as this viewer may see them. */
export type History = {
  id: number;
  type: "history";
  match: string;
  first?: number;
  count?: number;
};

/** Open a lobby. The host does not sit in it until it joins. */
export type Host = {
  id: number;
  type: "host";
  settings: LobbySettings;
};

/** A house bot that may sit in a lobby, with its parameters. */
export type HouseBotLine = {
  /** ``game/name``, without parameters */
  name: string;
  /** with how many seats it plays; empty for as many as its game has */
  seats: number[];
  summary: string;
  parameters: BotParameter[];
  /** the levels of its game that it plays, if any */
  levels?: BotLevel[];
};

/** A seat that the server fills with a bot process of its own. */
export type HouseSeat = {
  kind: "house";
  personality: string;
};

/** A house bot that failed to start, or exited, in the present round. */
export type HouseTrouble = {
  seat: number;
  personality: string;
  failures: number;
  /** what became of it the last time */
  reason: string;
  /** it is not started again, and its seat is open to anybody now */
  given_up: boolean;
};

/** Take a seat of a lobby, or enter as a spectator. Joining again changes nothing. */
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
 * A player on a game's ladder. `key` is that of an account, or a house bot's personality. A new
 * player has a rating of 1500. A lead of 400 points means odds of 10 to 1. `deviation` is one
 * standard deviation of the rating.
 */
export type LadderLine = {
  place: number;
  key: string;
  name: string;
  kind: "bot" | "human" | "house";
  rating: number;
  deviation: number;
  matches: number;
  /** seconds of the epoch */
  last_played: number;
};

/**
 * A game's ladder, or a part of it; `players` and `matches` count the whole ladder. Lines are
 * sorted by the rating less two deviations.
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
   * fields of the request that this server does not know and has ignored; only for clients that
   * said in `hello` that they speak a newer version
   */
  ignored?: string[];
  type: "ladders";
  games: LadderTable[];
};

/** The limits of time that a match forgives for delays of the network and of the server. */
export type Lag = {
  /** the bank of each seat for its network's round trips; 0 forgives none */
  bank_ms?: number;
  /** what each own move puts back into the bank, which never exceeds `bank_ms` */
  refill_ms?: number;
  /**
   * how long the server may stand still while turns are open before a match with clocks is aborted,
   * besides a quarter of the match's time; a restart counts 1000
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
 * first entry after a restart of the server. The clock of the open turn then begins anew, which
 * counts against the limits in `Setup.lag`. `kicked` means that the host of the lobby removed the
 * player. After that, or after `left`, the player cannot return.
 */
export type Left = {
  seq: number;
  at_ms: number;
  kind: "leave";
  seat: number;
  reason: "left" | "disconnect" | "crash" | "kicked";
  grace_ms: number;
  restart?: true;
};

/** The limits of this server, so that clients can respect them. */
export type Limits = {
  frame_bytes: number;
  messages_per_second: number;
  burst: number;
  lobbies: number;
  /** house seats in all lobbies that one player hosts */
  house_bots?: number;
};

export type ListGames = {
  id: number;
  type: "list_games";
};

/** The lobbies that are open, a page at a time, oldest first. */
export type ListLobbies = {
  id: number;
  type: "list_lobbies";
  /** `last` of the page before */
  after?: number;
  /** lobbies of a page */
  limit?: number;
};

/**
 * Running matches that may be watched, a page at a time, oldest first; the newest finished ones,
 * newest first, follow on the last page.
 */
export type ListMatches = {
  id: number;
  type: "list_matches";
  lobby?: string;
  /** `last` of the page before */
  after?: number;
  /** running matches of a page */
  limit?: number;
};

/** A lobby in a list. */
export type LobbyBrief = {
  lobby: string;
  name: string;
  host: string;
  state: "gathering" | "running" | "finished" | "closed";
  joinable: "open" | "invite" | "closed";
  watchable: boolean;
  games: string[];
  members: number;
  /** members who are people */
  people?: number;
  places: number;
  /** what is sought, where the lobby was opened by `seek` */
  seek?: SeekTerms;
  /** in news of the hall only: of two, the newer one has the larger number */
  order?: number;
};

/** The changes of a lobby. Only `match_started` and `match_ended` change its `live`. */
export type LobbyChanged = {
  type: "lobby_changed";
  lobby: string;
  /** the merge patch of the lobby */
  patch: { [name: string]: JsonValue };
};

/**
 * The lobby is gone, or this player was kicked from it, or left it on another connection. `failed`
 * means that the server could not continue the lobby because of an internal error.
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
   * fields of the request that this server does not know and has ignored; only for clients that
   * said in `hello` that they speak a newer version
   */
  ignored?: string[];
  type: "lobbies";
  lobbies: LobbyBrief[];
  /** whether another page follows */
  more?: boolean;
  /** what to say as `after` for the next page */
  last?: number;
};

/**
 * A lobby as it is now, which replaces all earlier news of it. Sent to a client that hosts, joins,
 * enters or reconnects, and to clients that read too slowly for the changes. Other updates are sent
 * as changes.
 */
export type LobbyNews = {
  type: "lobby";
  lobby: LobbyView;
};

/** The settings of a lobby, as its host requests them. */
export type LobbySettings = {
  name?: string;
  /** whether lists show the lobby */
  listed?: boolean;
  /** who may join: anyone, whoever has the invite code, reserved only */
  joinable?: "open" | "invite" | "closed";
  /** whether spectators may enter */
  watchable?: boolean;
  seats: (OpenSeat | ReservedSeat | HouseSeat)[];
  /**
   * what is played; where the host arranges the matches it may be empty, and only says what players
   * should be prepared for
   */
  programme: ProgrammeItem[];
  /** play what the host arranges, match by match, from its start until it closes */
  arranged?: boolean;
  /** count on the server's ladder: for accounts, on conditions that the server checks */
  rated?: boolean;
  /** how many matches run at the same time */
  at_once?: number;
  /** start by itself once every seat is taken and everybody is ready */
  auto_start?: boolean;
  conduct?: Conduct;
  lag?: Lag;
  spectating?: Spectating;
  /**
   * SHA-256 of the text of a seed from which the host draws those of all matches, and which it
   * publishes when all is over; the server shows it and checks nothing
   */
  commitment?: string;
};

/**
 * A lobby as its members and spectators see it. `invite` is for the host and members only, seeds in
 * the programme for the host only.
 */
export type LobbyView = {
  lobby: string;
  settings: LobbySettings;
  host: string;
  state: "gathering" | "running" | "finished" | "closed";
  /** 1, and one more for every rematch */
  round: number;
  /** whether it was opened by `seek`: every player may ask for a rematch */
  seek?: boolean;
  /** by their players; sort them by `seat` */
  members: { [name: string]: Member };
  spectators?: number;
  invite?: string;
  /** matches of this round in all */
  planned: number;
  done: number;
  /** how many of those that are done were not played at all */
  void?: number;
  /**
   * why the rest of this round is not played, where the server failed to play one match after the
   * other
   */
  stopped?: string;
  /** house bots that failed in this round, by seat */
  house_trouble?: HouseTrouble[];
  /** running matches by their keys, in any order */
  live: { [name: string]: MatchBrief };
  /** lines by their players; sort them by points, wins, fewer matches, name and key */
  standings: { [name: string]: Standing };
};

/** A match in a list. */
export type MatchBrief = {
  match: string;
  lobby?: string;
  number?: number;
  /** the block of the programme that it belongs to */
  block?: number;
  game: string;
  seats: Player[];
  ply?: number;
  time_control?: TimeControl;
  watchable?: boolean;
  result?: Result;
  /** the host's name for it, where the host arranged it */
  tag?: string;
  /** it will not be played: a player has left, or the lobby was closed */
  void?: boolean;
  /** in news of the hall only: of two, the newer one has the larger number */
  order?: number;
};

/** A match of a lobby is over: it is in `live` no longer. */
export type MatchEnded = {
  type: "match_ended";
  lobby: string;
  match: MatchBrief;
};

/** A page of the running matches; the last one has the finished matches too. */
export type MatchList = {
  re: number;
  /**
   * fields of the request that this server does not know and has ignored; only for clients that
   * said in `hello` that they speak a newer version
   */
  ignored?: string[];
  type: "matches";
  matches: MatchBrief[];
  /** whether another page follows */
  more?: boolean;
  /** what to say as `after` for the next page */
  last?: number;
};

/** The report of one match, of the seats that its reader may know about. */
export type MatchReport = {
  match: string;
  game: string;
  cause: Cause;
  reason?: string;
  plies: number;
  /** those at fault, or the one that was asked for */
  seats: SeatReport[];
};

/** A match of a lobby has begun: it is in `live` now. Spectators may `watch` it. */
export type MatchStarted = {
  type: "match_started";
  lobby: string;
  match: MatchBrief;
};

/** A player in a lobby; `seat` is the lobby's seat, not a seat at a match. */
export type Member = {
  player: string;
  name: string;
  kind: "bot" | "human" | "house";
  seat: number;
  ready: boolean;
  connected: boolean;
  /** of what plays for it, as that said when it joined; empty where it did not */
  version?: string;
};

/** Play an action at `ply`. Resent with the same id and ply, it is applied only once. */
export type Move = {
  id: number;
  type: "move";
  match: string;
  ply: number;
  action: { [name: string]: boolean | number | string };
  comment?: Comment;
};

/** A seat's action, with its ledger of time: charged = elapsed - allowance, never below 0. */
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

/** A match that a wall cannot show. */
export type NotWatched = {
  match: string;
  code: Code;
  message: string;
};

/** A line for the seat's own record, such as the tail of stderr. Others see only its number. */
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
  kind: "note";
  seat: number;
  text: string;
  /** the move that was refused; `text` says why then */
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
 * Some matches of one game with n seats, among m members who can play it. With `rotate` match j of
 * the first m seats, in order, the members j, j+1, .., j+n-1 (modulo m), so that everybody takes
 * every seat once. The next m matches seat the same groups with everybody moved up by one seat,
 * until all have had all seats among themselves, and then come other groups in the same way, so
 * that in time everybody meets everybody. A *balanced* game, in which the first move or the deal
 * decides too much, is played in blocks instead. In each block of n matches one group takes all
 * seats in turn, on one deal if that reveals no secrets; then the next group follows. `games` is a
 * multiple of n there. Without `rotate` the first n members play all matches in the same seats.
 */
export type ProgrammeItem = {
  game: string;
  options?: { [name: string]: boolean | number | string | (number | string)[] };
  seats?: number;
  /** how many matches; absent for one, or for one block of a balanced game */
  games?: number;
  rotate?: boolean;
  time_control?: TimeControl;
  /**
   * a whole number below 2^53, or 64 hexadecimal digits: the seed of the first deal, later ones
   * count up from it; where a game hides something, all seeds are hashes of it, and whoever can
   * guess it knows what is hidden
   */
  seed?: number | string;
};

export type Ready = {
  id: number;
  type: "ready";
  lobby: string;
  ready?: boolean;
};

/** The last thing that came from a seat. */
export type Received = {
  kind: "move" | "refused" | "resign" | "fault";
  ply: number;
  /** in the match's time */
  at_ms: number;
  /** the action's JSON, as far as it was kept */
  action?: string;
  /** as what it was refused */
  code?: Code;
  /** why it was refused, or what the bot said had failed */
  detail?: string;
};

/** Another server of the same cluster, which can carry out the request. */
export type Redirect = {
  /** its websocket address */
  url: string;
  /** for `hello` there, within 30 seconds and once */
  ticket: string;
};

/** The request was not carried out and nothing has changed. */
export type Refused = {
  re: number;
  /**
   * fields of the request that this server does not know and has ignored; only for clients that
   * said in `hello` that they speak a newer version
   */
  ignored?: string[];
  type: "refused";
  code: Code;
  message: string;
  hint?: string;
  retry_after_ms?: number;
  /** the present ply, for `stale` */
  ply?: number;
  /** where to ask again, for `elsewhere`, where the player may go there */
  redirect?: Redirect;
};

/** A move that the server refused because it was not legal, as it was sent. */
export type RefusedMove = {
  ply: number;
  code: Code;
  /** the action's JSON, cut where it is too long */
  action: string;
  id: number;
};

/** Take the player's seat at a match on this connection; an older connection loses it. */
export type Rejoin = {
  id: number;
  type: "rejoin";
  match: string;
};

/**
 * Host: play the finished programme again with the seats rotated by one. In a lobby that `seek`
 * opened every player may ask, and then counts as ready.
 */
export type Rematch = {
  id: number;
  type: "rematch";
  lobby: string;
};

/** Another player takes a seat over. */
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
   * fields of the request that this server does not know and has ignored; only for clients that
   * said in `hello` that they speak a newer version
   */
  ignored?: string[];
  type: "reported";
  report: MatchReport;
};

/** A seat kept for one player. */
export type ReservedSeat = {
  kind: "reserved";
  name: string;
  /** the key of that player; without one it is whoever has the name */
  player?: string;
};

/** Resign the match. A bot that failed can say so, and the result names the fault. */
export type Resign = {
  id: number;
  type: "resign";
  match: string;
  fault?: "crash" | "illegal";
  /** what failed, in a sentence; with `fault` only */
  detail?: string;
};

export type Resigned = {
  seq: number;
  at_ms: number;
  kind: "resign";
  seat: number;
};

/** The end of a match. */
export type Result = {
  seats: SeatResult[];
  /** what ended the match */
  cause: Cause;
  /** in the game's words, such as `goal` or `repetition` */
  reason?: string;
  plies: number;
};

/**
 * A seat's player reconnected, or switched to another connection. `takeover` means that the old
 * connection was open and belonged to another program: one with another `instance` in its hello, or
 * none.
 */
export type Returned = {
  seq: number;
  at_ms: number;
  kind: "return";
  seat: number;
  takeover?: true;
};

/** One seat. */
export type SeatReport = {
  seat: number;
  player: Player;
  /** why it dropped out; absent where it did not */
  cause?: Cause;
  detail?: string;
  /** the last your_turn, as the message that it was */
  sent?: { [name: string]: JsonValue };
  received?: Received;
  /** every move that was refused as illegal */
  refused: Received[];
  /** the last lines that its bot wrote */
  notes: string[];
  ledger: Spent[];
  /** turns before the first one of the ledger */
  earlier?: number;
};

/** How one seat ended: `rank` 1 is best and ties share it. */
export type SeatResult = {
  rank: number;
  score: number;
  /** by the game's own count, where it counts */
  points?: number;
  /** why the seat dropped out before the end */
  cause?: Cause;
  detail?: string;
  /** whether another connection took the seat while its own was open */
  takeover?: true;
};

/**
 * Seek opponents on these terms. The player joins the lobby of another seek on the same terms. If
 * there is none, the server opens a listed lobby with a seat for this player and open seats for the
 * others. It starts by itself once everybody is ready. It closes when its opener leaves, when a
 * player leaves after the start, and when nobody has joined, or asked for a rematch, for `wait_s`
 * seconds. A player has one seek at a time; repeating it while it is open or played returns the
 * same lobby.
 */
export type Seek = {
  id: number;
  type: "seek";
  terms: SeekTerms;
  wait_s?: number;
};

/** The terms of a player who seeks opponents: one item, open to anyone. */
export type SeekTerms = {
  /** without a seed */
  item: ProgrammeItem;
  /** as in a lobby's settings; for accounts only */
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
 * A match as this viewer sees it now; the next event is `seq` + 1. Sent when a match starts for a
 * player, after `rejoin` and `watch`, and instead of the events that a spectator was too slow to
 * read.
 */
export type Snapshot = {
  type: "snapshot";
  why: "started" | "rejoined" | "watching" | "lagged";
  match: string;
  lobby?: string;
  number?: number;
  /** the block of the programme that it belongs to */
  block?: number;
  game: string;
  rules_version: number;
  options: { [name: string]: boolean | number | string | (number | string)[] };
  seats: Player[];
  /** seats not connected */
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
   * spectators who see the match late
   */
  left_ms?: number;
  conduct: Conduct;
  spectating: Spectating;
  commitment: string;
  result?: Result;
  /** the view as a drawing, for who said `views` `drawn` */
  stage?: Stage;
};

/** The view and delay of spectators of a live match. All is revealed when it is over. */
export type Spectating = {
  mode?: "off" | "public" | "shoulder" | "referee";
  /** whose eyes, for `shoulder` */
  seat?: number;
  delay_plies?: number;
  delay_ms?: number;
  /**
   * who sees comments on a running match, and what bots say of their moves: `after` shows them when
   * the match is over, `spectators` at once to all who watch, `everybody` to players as well;
   * `none` takes no comments. Matches of house bots alone are shown with theirs at once, rated
   * matches of others never
   */
  comments?: "none" | "after" | "spectators" | "everybody";
};

/** One turn of a seat in its ledger; charged = elapsed - allowance, never below 0. */
export type Spent = {
  ply: number;
  elapsed_ms: number;
  allowance_ms?: number;
  charged_ms: number;
  /** what the server stood still meanwhile; not in elapsed */
  lag_ms?: number;
  /** main time and bank after it; absent without */
  left_ms?: number;
  flagged?: boolean;
};

/** A position as a viewer sees it. */
export type Stage = {
  lattice: "square" | "hex";
  /** by their names, in any order */
  cells: { [name: string]: StageCell };
  labels: StageLabel[];
  marks: StageMark[];
  /** lines below the board: how the match stands */
  text: string[];
  /** which colour each seat has; empty where pieces have none */
  colours: ("black" | "white")[];
};

/** A place of the board and what is on it; absent fields mean that there is none. */
export type StageCell = {
  x: number;
  y: number;
  /** the ground: hole, home, goal, point, floor, fog, seen, rock, wreck, gone, number or button */
  kind: string;
  /** the seat whose piece stands there */
  owner?: number;
  /** the seat that tints the ground */
  tint?: number;
  /** at most three characters to write on it */
  glyph?: string;
  /** degrees clockwise from the top */
  heading?: number;
  /** of the piece; without it a piece looks as its owner does */
  colour?: "black" | "white";
};

/** A coordinate at the edge of the board. */
export type StageLabel = {
  text: string;
  x: number;
  y: number;
};

/** A highlight over cells, in order, such as the last move's ends or path, or a winning line. */
export type StageMark = {
  /** from, to, path, win or vision */
  kind: string;
  /** names of cells */
  cells: string[];
  seat?: number;
};

/**
 * A line of a lobby's table, of the present round. A match gives each seat the share of the others
 * that it has beaten; ties count half. With two seats the winner gets 1, and a draw gives both 0.5.
 * With n seats the best gets 1, the next (n-2)/(n-1), the last 0. A win is the best rank alone, a
 * draw the best rank shared.
 */
export type Standing = {
  player: string;
  name: string;
  played: number;
  wins: number;
  draws: number;
  losses: number;
  points: number;
  /** how often this player's seat dropped out, by cause */
  causes?: { [name: string]: number };
};

/** Host: begin the programme. Everybody must be ready. */
export type Start = {
  id: number;
  type: "start";
  lobby: string;
};

/**
 * Subscribe to a topic: all of it once (`hall`), then its changes (`hall_changed`). The hall is the
 * public part of `list_lobbies`, `list_matches` and `ladder`.
 */
export type Subscribe = {
  id: number;
  type: "subscribe";
  topic: "hall";
};

/** A time control, in milliseconds; all zero means no clock. */
export type TimeControl = {
  /** free time on every move, not carried over */
  move_ms?: number;
  /** main time of a seat for the whole match */
  main_ms?: number;
  /** added to the main time after each own move */
  increment_ms?: number;
  /** overage bank, used after move and main time */
  bank_ms?: number;
  /** byo-yomi periods after all else */
  periods?: number;
  /** length of a byo-yomi period */
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

/** Answer to wall: the matches that are watched now, and why the others are not. */
export type Walled = {
  re: number;
  /**
   * fields of the request that this server does not know and has ignored; only for clients that
   * said in `hello` that they speak a newer version
   */
  ignored?: string[];
  type: "walled";
  watching: string[];
  refused: NotWatched[];
};

/** Follow a match from its present state. */
export type Watch = {
  id: number;
  type: "watch";
  match: string;
};

/**
 * Answer to hello. `resume` is this player's secret for reconnecting. It is empty for a player
 * admitted by a ticket; the secret of an earlier welcome stays valid.
 */
export type Welcome = {
  re: number;
  /**
   * fields of the request that this server does not know and has ignored; only for clients that
   * said in `hello` that they speak a newer version
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
  /** whether this connection may only watch and read */
  viewer?: boolean;
  /**
   * websocket addresses of other servers of the same cluster, for coming back when this one is gone
   */
  nodes?: string[];
};

/** Everything needed to act. Resent after a rejoin while the turn lasts. */
export type YourTurn = {
  type: "your_turn";
  match: string;
  game: string;
  seat: number;
  ply: number;
  /** the observation, as the game's View model; absent for who said `views` `none` or `drawn` */
  view?: { [name: string]: JsonValue };
  /**
   * every legal action; absent where a rule in words says it shorter, and where `picks` has them
   */
  legal?: { [name: string]: JsonValue }[];
  /**
   * every legal action, and which cells of the stage are picked to play it, for who said `views`
   * `drawn`
   */
  picks?: Pick[];
  /** which actions are legal, where not listed */
  legal_rule?: string;
  legal_count: number;
  clocks?: Clock[];
  /** time until the own flag falls; absent without a clock */
  left_ms?: number;
};

