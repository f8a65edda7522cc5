// The ladder: the rating of every account and house bot in each game.

import { h, fill } from "../parts/dom.js";
import { kindMark } from "../parts/names.js";

/** @typedef {import("../main.js").App} App */
/** @typedef {import("../wire/messages.js").LadderTable} LadderTable */
/** @typedef {import("../wire/messages.js").Ladders} Ladders */

/**
 * @param {HTMLElement} root
 * @param {App} app
 */
export async function show(root, app) {
  document.title = "Ladder - kibitz";
  const [{ games }] = await Promise.all([
    /** @type {Promise<Ladders>} */ (app.connection.request({ type: "ladder" })),
    app.games.list(),
  ]);
  fill(
    root,
    h("h1", null, "Ladder"),
    games.length
      ? h("div", { class: "tiles wide" },
        games.map((table) => ladderTable(table, app.games.title(table.game))))
      : h("p", { class: "empty" }, "No rated matches yet. Hosts can make a lobby rated. Accounts and house bots are rated; guests are not."),
  );
}

/**
 * Return a house bot's name without its game, which is the title of the table.
 * @param {string} name
 * @param {string} game
 */
function shortName(name, game) {
  return name.startsWith(`${game}/`) ? name.slice(game.length + 1) : name;
}

/**
 * @param {LadderTable} table
 * @param {string} title
 * @param {number} [most] lines
 */
export function ladderTable(table, title, most = Infinity) {
  const lines = table.lines.slice(0, most);
  return h(
    "section", { class: "card" },
    h("h2", null, title),
    h("p", { class: "muted" }, `${table.players} players, ${table.matches} matches`),
    h(
      "div", { class: "scroll", tabindex: 0, role: "region", "aria-label": `Ladder of ${title}` },
      h(
        "table", null,
        h("thead", null, h("tr", null,
          h("th", { scope: "col" }, "#"), h("th", { scope: "col" }, "Player"),
          h("th", { scope: "col", class: "number" }, "Rating"),
          h("th", { scope: "col", class: "number" }, "±"),
          h("th", { scope: "col", class: "number" }, "Matches"))),
        h("tbody", null, lines.map((line) => h("tr", null,
          h("td", null, line.place),
          h("td", { class: "name" }, kindMark(line.kind), shortName(line.name, table.game)),
          h("td", { class: "number" }, Math.round(line.rating)),
          h("td", { class: "number muted" }, Math.round(2 * line.deviation)),
          h("td", { class: "number" }, line.matches)))),
      ),
    ),
  );
}
