// Descriptions of cells and positions for screen readers.

/** @typedef {import("../wire/messages.js").StageCell} Cell */

/** @type {Record<string, string>} */
const GROUNDS = {
  fog: "not in sight", rock: "rock", wreck: "wreck", gone: "taken", button: "button",
};

/** The name of a seat's player, or the seat's number. */
export function seatName(/** @type {number} */ seat, /** @type {readonly string[]} */ names) {
  return names[seat] || `seat ${seat + 1}`;
}

/**
 * A cell in words: `e4: greedy, black`.
 * @param {string} name
 * @param {Cell} cell
 * @param {readonly string[]} names of the players, by seat
 */
export function describe(name, cell, names) {
  if (cell.kind === "button") return name.replaceAll("-", " ");
  const parts = [];
  if (cell.kind === "number") parts.push(`number ${cell.glyph ?? ""}`);
  if (cell.owner !== undefined) parts.push(seatName(cell.owner, names));
  if (cell.colour) parts.push(cell.colour);
  if (cell.heading !== undefined) parts.push(`facing ${facing(cell.heading)}`);
  if (Object.hasOwn(GROUNDS, cell.kind)) parts.push(GROUNDS[cell.kind]);
  if (cell.kind === "gone" && cell.tint !== undefined) parts.push(`by ${seatName(cell.tint, names)}`);
  return `${name}: ${parts.join(", ") || "empty"}`;
}

/** @param {number} heading degrees clockwise from the top */
function facing(heading) {
  const words = ["up", "up right", "right", "down right", "down", "down left", "left", "up left"];
  return words[(((Math.round(heading / 45) % 8) + 8) % 8)];
}

/**
 * Replace `seat 1` by the player's name in a line of a stage's text.
 * @param {string} line
 * @param {readonly string[]} names
 */
export function named(line, names) {
  return line.replace(/\bseat ([1-9]\d*)\b/g, (words, number) => names[Number(number) - 1] || words);
}
