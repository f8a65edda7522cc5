// The rules of a game, from an HTML page on the server.

import { h } from "./dom.js";
import { read } from "./dialogs.js";

/**
 * Return the rules of a game; rejects if the server does not have them.
 * @param {string} game
 * @param {string} title
 */
export async function rulesOf(game, title) {
  const where = new URL(`../rules/${encodeURIComponent(game)}.html`, import.meta.url);
  const answer = await fetch(where);
  if (!answer.ok) throw new Error(`This server has no rules page for ${title}.`);
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  return h("article", null, [...page.body.childNodes].map((node) => document.importNode(node, true)));
}

/**
 * Show the rules of a game in a dialog.
 * @param {string} game
 * @param {string} title
 */
export async function showRules(game, title) {
  read(`Rules of ${title}`, await rulesOf(game, title));
}
