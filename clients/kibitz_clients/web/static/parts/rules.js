// Shows the rules of a game, from an HTML page on the server.

import { h } from "./dom.js";
import { read } from "./dialogs.js";

/**
 * Show the rules of a game; rejects if the server does not have them.
 * @param {string} game
 * @param {string} title
 */
export async function showRules(game, title) {
  const where = new URL(`../rules/${encodeURIComponent(game)}.html`, import.meta.url);
  const answer = await fetch(where);
  if (!answer.ok) throw new Error(`This server has no rules page for ${title}.`);
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  read(`Rules of ${title}`, h("article", null, [...page.body.childNodes].map((node) => document.importNode(node, true))));
}
