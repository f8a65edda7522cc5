// Matches in lists: a card with a small live board, or a line with the result.

import { at } from "./address.js";
import { h } from "./dom.js";
import { counted, kindMark, seatMark } from "./names.js";
import { resultText } from "./results.js";
import { shownName } from "../wire/names.js";

/** @typedef {import("../main.js").App} App */
/** @typedef {import("../wire/messages.js").MatchBrief} MatchBrief */
/** @typedef {import("./boards.js").Thumbnails} Thumbnails */

/**
 * @param {MatchBrief} match
 * @param {App} app
 * @param {Thumbnails} thumbnails
 */
export function matchCard(match, app, thumbnails) {
  const board = match.watchable === false ? null : thumbnails.board(match.match);
  const moves = h("span", { class: "muted" });
  const update = (/** @type {MatchBrief} */ news) => {
    moves.textContent = counted(news.ply ?? 0, "move");
  };
  update(match);
  const card = h("li", null,
    h("a", { class: "card match-card", href: at(`/match/${match.match}`) },
      board && h("div", { class: "thumbnail", "aria-hidden": "true" }, board),
      h("p", { class: "tags" }, h("strong", { class: "grow" }, app.games.title(match.game)), moves),
      h("ol", { class: "match-seats" }, match.seats.map((player, seat) =>
        h("li", null, seatMark(seat), h("span", { class: "name grow", title: player.name }, shownName(player)), kindMark(player.kind))))));
  return Object.assign(card, { update });
}

/**
 * @param {MatchBrief} match
 * @param {App} app
 */
export function matchLine(match, app) {
  const names = match.seats.map(shownName);
  return h("li", { class: "line" },
    h("a", { class: "grow", href: at(`/match/${match.match}`) },
      h("strong", null, app.games.title(match.game)), " ",
      h("span", null, names.join(" – "), ": "),
      match.result ? resultText(match.result, names, app.games.endings(match.game)) : "running"),
    h("span", { class: "muted" }, counted(match.result?.plies ?? match.ply ?? 0, "move")));
}
