// The rules of a game, beside a board on which to try them against the weakest level.

import { fill, h } from "../parts/dom.js";
import { signInAsGuest } from "../parts/guest_form.js";
import { playComputer } from "../parts/levels.js";
import { suggestedName } from "../parts/names.js";
import { refusalText } from "../parts/refusals.js";
import { rulesOf } from "../parts/rules.js";
import { show as showMatch } from "./match.js";

/** @typedef {import("../main.js").App} App */
/** @typedef {import("../wire/match.js").MatchModel} MatchModel */

/**
 * @param {HTMLElement} root
 * @param {App} app
 * @param {Record<string, string>} params
 */
export async function show(root, app, { game }) {
  const { games } = await app.games.list();
  const title = app.games.title(game);
  document.title = `Rules of ${title} - kibitz`;
  const seats = games.find(({ name }) => name === game)?.seats[0] ?? 2;
  const trouble = h("p", { class: "trouble", role: "alert" });
  const start = h("button", { class: "primary" }, "Try it on a board");
  const board = h("div", null, trouble, start);
  fill(root, h("div", { class: "rules-page" }, board, await rulesOf(game, title)));

  let leave = () => {};
  const started = async (/** @type {Event} */ event) => {
    const { id, game: begun } = /** @type {CustomEvent<MatchModel>} */ (event).detail;
    if (start.disabled && begun === game) leave = await showMatch(board, app, { id });
  };
  app.matches.addEventListener("started", started);
  start.addEventListener("click", async () => {
    start.disabled = true;
    try {
      if (app.connection.isViewer) await signInAsGuest(app, suggestedName());
      await playComputer(app, { game, seats, level: 1, control: {} });
    } catch (error) {
      fill(trouble, refusalText(error));
      start.disabled = false;
    }
  });
  return () => {
    app.matches.removeEventListener("started", started);
    leave();
  };
}
