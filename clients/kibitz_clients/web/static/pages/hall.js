// The hall: lobbies to join, matches to watch, the ladder, and games to start.

import { at } from "../parts/address.js";
import { ladderTable } from "./ladder.js";
import { loadBoards, Thumbnails } from "../parts/boards.js";
import { h, fill } from "../parts/dom.js";
import { KeyedList } from "../parts/keyed.js";
import { matchCard, matchLine } from "../parts/match_cards.js";
import { kindMark } from "../parts/names.js";
import { Hall, compared, newest } from "../wire/hall.js";

/** @typedef {import("../main.js").App} App */
/** @typedef {import("../wire/messages.js").LobbyBrief} LobbyBrief */
/** @typedef {import("../wire/messages.js").GameLine} GameLine */

const MOST_BOARDS = 12;
const MOST_FINISHED = 8;
const LADDER_LINES = 5;

/**
 * @param {HTMLElement} root
 * @param {App} app
 */
export async function show(root, app) {
  document.title = "Hall - kibitz";
  const [{ games }] = await Promise.all([app.games.list(), loadBoards()]);
  const thumbnails = new Thumbnails(app);
  const matches = section("matches", "Running now", "tiles boards", "No matches to watch right now.");
  const lobbies = section("lobbies", "Lobbies", "lines", "No open lobbies.");
  const finished = section("finished", "Just finished", "lines", "Nothing yet.");
  const ladders = section("ladders", "Ladder", "tiles wide", "No rated matches yet.");
  const mine = h("section", { class: "mine", "aria-label": "Your matches" });
  const more = h("a", { href: at("/wall") }, "See all on the wall");
  matches.element.append(more);
  fill(root,
    h("div", { class: "row" },
      h("h1", { class: "grow" }, 
        app.connection.isViewer ? "Play or watch" : `Welcome, ${app.connection.welcome?.name}`),
      h("a", { class: "button", href: at("/host") }, "Host a lobby")),
    mine,
    h("section", { "aria-labelledby": "games-head" },
      h("h2", { id: "games-head" }, "Play"),
      h("ul", { class: "tiles games" }, games.map(gameTile))),
    matches.element,
    h("div", { class: "pair" }, lobbies.element, finished.element),
    ladders.element);

  const lists = {
    matches: new KeyedList(matches.list, (match) => match.match, (match) => matchCard(match, app, thumbnails)),
    lobbies: new KeyedList(lobbies.list, (lobby) => lobby.lobby, (lobby) => lobbyLine(lobby, app)),
    finished: new KeyedList(finished.list, (match) => match.match, (match) => matchLine(match, app)),
    ladders: new KeyedList(ladders.list, (table) => table.game, (table) =>
      h("li", null, ladderTable(table, app.games.title(table.game), LADDER_LINES))),
  };
  const hall = new Hall(app.connection);
  const draw = () => {
    const { view } = hall;
    if (!view) return;
    drawMine(mine, app);
    const shown = newest(view.matches).slice(0, MOST_BOARDS);
    const over = newest(view.finished);
    const tables = Object.values(view.ladders).sort((a, b) => compared(a.game, b.game));
    lists.matches.show(shown);
    lists.lobbies.show(newest(view.lobbies));
    lists.finished.show(over.slice(0, MOST_FINISHED));
    lists.ladders.show(tables);
    matches.count(view.matches_in_all);
    lobbies.count(view.lobbies_in_all);
    finished.count(over.length, false);
    ladders.count(tables.length, false);
    more.hidden = view.matches_in_all <= shown.length;
    thumbnails.keep(new Set(shown.map((match) => match.match)));
  };
  hall.addEventListener("change", draw);
  await hall.open();
  return () => {
    hall.removeEventListener("change", draw);
    hall.close();
    thumbnails.close();
  };
}

/**
 * Make a section of the hall: a title and a list, or a text if the list is empty.
 * @param {string} name
 * @param {string} title
 * @param {string} look of the list
 * @param {string} empty
 */
function section(name, title, look, empty) {
  const number = h("span", { class: "count" });
  const list = h("ul", { class: look });
  const none = h("p", { class: "empty" }, empty);
  const element = h("section", { "aria-labelledby": `${name}-head` },
    h("h2", { id: `${name}-head` }, title, " ", number), list, none);
  const count = (/** @type {number} */ there, numbered = true) => {
    number.textContent = numbered && there ? String(there) : "";
    none.hidden = there > 0;
    list.hidden = !there;
  };
  count(0);
  return { element, list, count };
}

/** @param {GameLine} game */
function gameTile(game) {
  return h("li", { class: "card tile" },
    h("h3", null, game.title),
    h("p", { class: "muted grow game-summary" }, game.summary),
    h("div", { class: "row" },
      h("a", { class: "button primary", href: at(`/play?game=${game.name}`) }, "Play",
        h("span", { class: "visually-hidden" }, ` ${game.title}`))));
}

/**
 * Make a card that leads back to this player's running matches.
 * @param {HTMLElement} root
 * @param {App} app
 */
function drawMine(root, app) {
  const seats = app.matches.seated;
  if (root.dataset.seats === seats.join()) return;
  root.dataset.seats = seats.join();
  fill(root, seats.map((id) =>
    h("p", { class: "card row" },
      h("strong", { class: "grow" }, "You have a seat in a running match."),
      h("a", { class: "button primary", href: at(`/match/${id}`) }, "Back to the board"))));
}

/**
 * @param {LobbyBrief} lobby
 * @param {App} app
 */
function lobbyLine(lobby, app) {
  const free = lobby.places - lobby.members;
  const open = lobby.joinable !== "closed" && lobby.state !== "running" && free > 0;
  const people = lobby.people ?? 0;
  const href = at(`/lobby/${lobby.lobby}`);
  return h("li", { class: "line" },
    h("a", { class: "grow", href },
      h("strong", null, lobby.name), " ",
      h("span", { class: "muted" }, lobby.games.map((game) => app.games.title(game)).join(", "))),
    h("span", { class: "muted" },
      kindMark("human"), people, " ", kindMark("bot"), lobby.members - people, ` of ${lobby.places}`),
    h("span", { class: `tag state-${lobby.state}` }, lobby.state),
    lobby.joinable === "invite" && h("span", { class: "tag" }, "invite only"),
    open ? h("a", { class: "button small", href, "aria-label": `Join ${lobby.name}` }, "Join")
      : lobby.watchable && h("a", { class: "button small", href, "aria-label": `Watch: ${lobby.name}` }, "Watch"));
}
