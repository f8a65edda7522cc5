// Names of players, with a mark that tells people, bots and the server's own bots apart.

import { h } from "./dom.js";

/** @typedef {"bot"|"human"|"house"} Kind */

const MARKS = {
  human: ["☺", "a person"],
  bot: ["⚙", "a bot"],
  house: ["⌂", "a house bot"],
};

/** @param {Kind} kind */
export function kindMark(kind) {
  const [sign, text] = MARKS[kind] ?? MARKS.bot;
  return h("span", { class: `kind kind-${kind}`, role: "img", "aria-label": text, title: text }, sign);
}

/**
 * The colour and shape of a seat at a match, beside its number, which is counted from 1.
 * @param {number} seat
 */
export function seatMark(seat) {
  return h("span", { class: `seat-mark seat-mark-${seat % 6}`, "aria-hidden": "true" }, SHAPES[seat % 6]);
}

const SHAPES = "●▲■◆★✚";

/**
 * How a count reads: "1 match", "3 matches".
 * @param {number} count
 * @param {string} one
 * @param {string} [many]
 */
export function counted(count, one, many = `${one}s`) {
  return `${count} ${count === 1 ? one : many}`;
}
