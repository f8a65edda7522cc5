// The hall: what can be joined and watched here, who is best, and the way to a game of one's own.

import { ladderTable } from "./ladder.js";
import { haveBoards, Thumbnails } from "../parts/boards.js";
import { h, fill } from "../parts/dom.js";
import { counted, kindMark, seatMark } from "../parts/names.js";
import { resultText } from "../parts/results.js";
import { controlText } from "../wire/clock.js";
import { Hall } from "../wire/hall.js";

/** @typedef {import("../main.js").App} App */
/** @typedef {import("../wire/hall.js").HallView} HallView */
/** @typedef {import("../wire/hall.js").LobbyLine} LobbyLine */
/** @typedef {import("../wire/hall.js").MatchLine} MatchLine */
/** @typedef {import("../wire/messages.js").GameLine} GameLine */

const MOST_BOARDS = 12;
const MOST_FINISHED = 10;
const LADDER_LINES = 5;

/**
 * @param {HTMLElement} root
 * @param {App} app
 */
export async function show(root, app) {
  document.title = "Hall - kibitz";
  const hall = new Hall(app.connection);
  const thumbnails = new Thumbnails(app);
  const [{ games }, boards] = await Promise.all([
    app.games.list(),
    haveBoards().then(() => true, () => false),
  ]);
  const parts = {
    mine: h("section", { "aria-labelledby": "mine-head", hidden: true }),
    lobbies: h("section", { "aria-labelledby": "lobbies-head" }),
    matches: h("section", { "aria-labelledby": "matches-head" }),
    finished: h("section", { "aria-labelledby": "finished-head" }),
    ladders: h("section", { "aria-labelledby": "ladders-head" }),
  };
  fill(
    root,
    h("h1", null, `Welcome, ${app.connection.welcome?.name ?? "friend"}`),
    parts.mine,
    h("section", { "aria-labelledby": "games-head" },
      h("h2", { id: "games-head" }, "Play"),
      h("ul", { class: "tiles" }, games.map(gameTile))),
    parts.matches,
    h("div", { class: "pair" }, parts.lobbies, parts.finished),
    parts.ladders,
  );

  const draw = () => {
    if (!hall.view) return;
    const { lobbies, matches, finished, ladders } = hall.view;
    drawMine(parts.mine, app);
    drawLobbies(parts.lobbies, app, lobbies, hall.view.lobbies_in_all);
    drawMatches(parts.matches, app, hall.view, boards ? thumbnails : null);
    fill(parts.finished,
      h("h2", { id: "finished-head" }, "Just finished"),
      finished.length
        ? h("ul", { class: "lines" }, finished.slice(0, MOST_FINISHED).map((match) => finishedLine(match, app)))
        : h("p", { class: "empty" }, "Nothing yet."));
    fill(parts.ladders,
      h("h2", { id: "ladders-head" }, "Ladder"),
      ladders.length
        ? h("div", { class: "tiles wide" },
          ladders.map((table) => ladderTable(table, app.games.title(table.game), LADDER_LINES)))
        : h("p", { class: "empty" }, "No rated match was played yet."));
    if (!matches.length) thumbnails.keep(new Set());
  };
  hall.addEventListener("change", draw);
  await hall.open();
  return () => {
    hall.removeEventListener("change", draw);
    hall.close();
    thumbnails.keep(new Set());
  };
}

/** @param {GameLine} game */
function gameTile(game) {
  const seats = game.seats.length > 1
    ? `${game.seats[0]} to ${game.seats[game.seats.length - 1]} players` : `${game.seats[0]} players`;
  return h("li", { class: "card tile" },
    h("h3", null, game.title),
    h("p", { class: "muted grow" }, game.summary),
    h("p", { class: "tags" }, h("span", { class: "tag" }, seats),
      game.hidden && h("span", { class: "tag" }, "hidden information")),
    h("a", { class: "button primary", href: `/host?game=${game.name}` }, "Play ",
      h("span", { class: "visually-hidden" }, game.title)));
}

/**
 * @param {HTMLElement} root
 * @param {App} app
 */
function drawMine(root, app) {
  const seats = app.matches.seated;
  const lobbies = app.connection.welcome?.lobbies ?? [];
  root.hidden = !seats.length;
  if (root.hidden) return;
  fill(root,
    h("h2", { id: "mine-head" }, "Your matches"),
    h("ul", { class: "lines" },
      seats.map((id) => h("li", null, h("a", { class: "button", href: `/match/${id}` }, `Back to match ${id}`))),
      lobbies.map((id) => h("li", null, h("a", { href: `/lobby/${id}` }, `Lobby ${id}`)))));
}

/**
 * @param {HTMLElement} root
 * @param {App} app
 * @param {LobbyLine[]} lobbies
 * @param {number} inAll
 */
function drawLobbies(root, app, lobbies, inAll) {
  fill(root,
    h("h2", { id: "lobbies-head" }, "Lobbies ", h("span", { class: "count" }, inAll)),
    lobbies.length
      ? h("ul", { class: "lines" }, lobbies.map((lobby) => lobbyLine(lobby, app)))
      : h("p", { class: "empty" }, "No lobby is open. ", h("a", { href: "/host" }, "Host one")));
}

/**
 * @param {LobbyLine} lobby
 * @param {App} app
 */
function lobbyLine(lobby, app) {
  const free = lobby.places - lobby.members;
  const joinable = lobby.joinable !== "closed" && lobby.state !== "running" && free > 0;
  const people = /** @type {{people?: number}} */ (lobby).people ?? 0;
  const bots = lobby.members - people;
  return h("li", { class: "line" },
    h("a", { class: "grow", href: `/lobby/${lobby.lobby}` },
      h("strong", null, lobby.name), " ",
      h("span", { class: "muted" }, lobby.games.map((game) => app.games.title(game)).join(", "))),
    h("span", { class: "tag" }, lobby.state),
    lobby.joinable === "invite" && h("span", { class: "tag" }, "by invite"),
    h("span", { class: "muted" },
      kindMark("human"), people, " ", kindMark("bot"), bots, ` of ${lobby.places}`),
    joinable && h("a", { class: "button small", href: `/lobby/${lobby.lobby}` }, "Join"));
}

/**
 * @param {HTMLElement} root
 * @param {App} app
 * @param {HallView} view
 * @param {Thumbnails | null} thumbnails
 */
function drawMatches(root, app, view, thumbnails) {
  const shown = view.matches.slice(0, MOST_BOARDS);
  thumbnails?.keep(new Set(shown.map((match) => match.match)));
  fill(root,
    h("h2", { id: "matches-head" }, "Running ", h("span", { class: "count" }, view.matches_in_all)),
    shown.length
      ? h("ul", { class: "tiles" }, shown.map((match) => matchCard(match, app, thumbnails)))
      : h("p", { class: "empty" }, "No match runs that may be watched."),
    view.matches_in_all > shown.length && h("a", { href: "/wall" }, `All ${view.matches_in_all} on the wall`));
}

/**
 * @param {MatchLine} match
 * @param {App} app
 * @param {Thumbnails | null} thumbnails
 */
function matchCard(match, app, thumbnails) {
  const watchable = thumbnails && match.watchable !== false;
  return h("li", null,
    h("a", { class: "card match-card", href: `/match/${match.match}` },
      watchable ? h("div", { class: "thumbnail" }, thumbnails.board(match.match)) : null,
      h("p", { class: "tags" }, h("strong", null, app.games.title(match.game)),
        h("span", { class: "muted" }, counted(match.ply ?? 0, "move"))),
      h("ol", { class: "seats" }, match.seats.map((player, seat) =>
        h("li", null, seatMark(seat), kindMark(player.kind), h("span", { class: "name" }, player.name)))),
      match.time_control && h("p", { class: "muted small-text" }, `clock: ${controlText(match.time_control)}`)));
}

/**
 * @param {MatchLine} match
 * @param {App} app
 */
function finishedLine(match, app) {
  const names = match.seats.map((player) => player.name);
  return h("li", { class: "line" },
    h("a", { class: "grow", href: `/match/${match.match}` },
      h("strong", null, app.games.title(match.game)), " ",
      match.result ? resultText(match.result, names) : names.join(" - ")),
    h("span", { class: "muted" }, counted(match.result?.plies ?? 0, "move")));
}
