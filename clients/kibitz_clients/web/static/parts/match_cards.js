// Matches in lists: as a card with a small live board, and as a line with its result.

import { h } from "./dom.js";
import { counted, kindMark, seatMark } from "./names.js";
import { resultText } from "./results.js";

/** @typedef {import("../main.js").App} App */
/** @typedef {import("../wire/messages.js").MatchBrief} MatchBrief */
/** @typedef {import("./boards.js").Thumbnails} Thumbnails */

/**
 * @param {MatchBrief} match
 * @param {App} app
 * @param {Thumbnails | null} thumbnails
 */
export function matchCard(match, app, thumbnails) {
  const shown = thumbnails && match.watchable !== false;
  return h("li", null,
    h("a", { class: "card match-card", href: `/match/${match.match}` },
      shown ? h("div", { class: "thumbnail", "aria-hidden": "true" }, thumbnails.board(match.match)) : null,
      h("p", { class: "tags" }, h("strong", { class: "grow" }, app.games.title(match.game)),
        h("span", { class: "muted" }, counted(match.ply ?? 0, "move"))),
      h("ol", { class: "match-seats" }, match.seats.map((player, seat) =>
        h("li", null, seatMark(seat), h("span", { class: "name grow" }, player.name), kindMark(player.kind))))));
}

/**
 * @param {MatchBrief} match
 * @param {App} app
 */
export function matchLine(match, app) {
  const names = match.seats.map((player) => player.name);
  return h("li", { class: "line" },
    h("a", { class: "grow", href: `/match/${match.match}` },
      h("strong", null, app.games.title(match.game)), " ",
      h("span", null, names.join(" – "), ": "),
      match.result ? resultText(match.result, names) : "running"),
    h("span", { class: "muted" }, counted(match.result?.plies ?? match.ply ?? 0, "move")));
}
