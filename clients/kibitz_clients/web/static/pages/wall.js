// The wall, for a large public screen: live boards that fill it, and a ticker of results.

import { at } from "../parts/address.js";
import { BoardGrid } from "../parts/board_grid.js";
import { h, fill } from "../parts/dom.js";
import { counted } from "../parts/names.js";
import { resultText } from "../parts/results.js";
import { Ticker } from "../parts/ticker.js";
import { useStyles } from "../parts/wall_styles.js";
import { Hall, newest } from "../wire/hall.js";
import { shownName } from "../wire/names.js";

/** @typedef {import("../main.js").App} App */
/** @typedef {import("../wire/match.js").MatchModel} MatchModel */
/** @typedef {import("../wire/messages.js").MatchBrief} MatchBrief */

/**
 * @param {HTMLElement} root
 * @param {App} app
 */
export async function show(root, app) {
  document.title = "Wall - kibitz";
  const lobby = new URLSearchParams(location.search).get("lobby");
  const hall = new Hall(app.connection);
  await Promise.all([app.games.list(), useStyles()]);
  const facts = h("p", { class: "wall-facts" });
  const boards = h("div", { class: "wall-boards" });
  const empty = h(
    "div", { class: "wall-empty" },
    h("p", { class: "wall-empty-head" }, "No match is running"),
    h("p", null, "Boards appear here as soon as a match starts. ", h("a", { href: at("/host"), target: "_self" }, "Host a lobby"), "."),
  );
  const results = h("div", { class: "wall-results" });
  const back = h("a", { href: at("/"), class: "wall-back", target: "_self" }, "kibitz");
  fill(
    root,
    h("div", { class: "wall-bar" }, h("h1", null, back, h("span", { class: "visually-hidden" }, ": the wall")), facts),
    boards, empty, results,
  );
  document.body.classList.add("full-screen");

  const grid = new BoardGrid(boards, app);
  const ticker = new Ticker(results, "Results");

  const draw = () => {
    const view = hall.view;
    if (!view) return;
    const running = newest(view.matches).filter((brief) => !lobby || brief.lobby === lobby);
    grid.show(running);
    const finished = newest(view.finished).filter((brief) => brief.result && (!lobby || brief.lobby === lobby));
    ticker.show(finished.map((brief) => [brief.match, line(app, brief)]));
    const all = lobby ? running.length : view.matches_in_all;
    facts.textContent = [
      `${counted(all, "match", "matches")} running`,
      all > grid.count ? `${grid.count} shown here` : "",
    ].filter(Boolean).join(" · ");
    empty.hidden = grid.count > 0;
  };
  hall.addEventListener("change", draw);
  grid.addEventListener("change", draw);
  hall.open().catch((error) => app.sayError(error));
  return () => {
    hall.removeEventListener("change", draw);
    grid.close();
    ticker.close();
    hall.close();
    document.body.classList.remove("full-screen");
  };
}

/**
 * @param {App} app
 * @param {MatchBrief} brief
 */
function line(app, brief) {
  const names = brief.seats.map(shownName);
  const result = brief.result ? resultText(brief.result, names, app.games.endings(brief.game)) : "";
  return `${app.games.title(brief.game)}, ${names.join(" – ")}: ${result}`;
}
