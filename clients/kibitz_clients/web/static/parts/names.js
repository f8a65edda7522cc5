// Names of players, with a mark to distinguish people, bots and house bots.

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

const MANNERS = ["Bold", "Brisk", "Calm", "Clever", "Eager", "Gentle", "Jolly", "Keen", "Lucky", "Merry", "Quick", "Quiet"];
const CREATURES = ["Badger", "Crane", "Falcon", "Fox", "Gecko", "Hare", "Heron", "Lynx", "Otter", "Owl", "Raven", "Seal"];

/** Return a random name for a guest, such as "Quick Otter 42". */
export function suggestedName() {
  const one = (/** @type {string[]} */ words) => words[Math.floor(Math.random() * words.length)];
  return `${one(MANNERS)} ${one(CREATURES)} ${10 + Math.floor(Math.random() * 90)}`;
}

/** The number of characters to keep at the end of a name, because it may be a version. */
const TAIL = 4;

/**
 * Make a name that shrinks to fit: the part before its last characters is cut off.
 * @param {string} name
 */
export function shortName(name) {
  const letters = [...name];
  return h("span", { class: "live-name", title: name },
    h("span", null, letters.slice(0, -TAIL).join("")), letters.slice(-TAIL).join(""));
}

/**
 * Draw the color and shape of a seat, or its stone if it plays with black or white stones.
 * @param {number} seat
 * @param {"black" | "white" | number} [stone]
 */
export function seatMark(seat, stone = seat) {
  if (typeof stone === "string") {
    return h("span", { class: `seat-mark stone-mark stone-mark-${stone}`, role: "img", "aria-label": stone });
  }
  return h("span", { class: `seat-mark seat-mark-${seat % 6}`, "aria-hidden": "true" }, SHAPES[seat % 6]);
}

const SHAPES = "●▲■◆★✚";

/**
 * Return a count as text: "1 match", "3 matches".
 * @param {number} count
 * @param {string} one
 * @param {string} [many]
 */
export function counted(count, one, many = `${one}s`) {
  return `${count} ${count === 1 ? one : many}`;
}
