// Entries of a match as text. A move is described by its paint, since the format of actions depends
// on the game; a recorded match includes the game's own text.

import { seatName } from "../board/describe.js";
import { shownName } from "../wire/names.js";

/** @typedef {import("./course.js").Step} Step */
/** @typedef {import("./course.js").Entry} Entry */

/** @type {Record<string, string>} */
const CAUSES = {
  resignation: "resigned", time: "lost on time", illegal: "sent illegal moves", crash: "crashed",
  disconnect: "lost the connection", abandoned: "left the match", takeover: "lost the seat",
  kicked: "was removed by the host", aborted: "aborted by the operator",
  infrastructure: "the server could not continue",
};

/**
 * Describe a step in a few words.
 * @param {Step} step
 * @param {boolean} turn whether a turn passed with it
 * @param {readonly string[]} names of the players
 */
export function stepText(step, turn, names) {
  const { entry } = step;
  if (entry.text && entry.kind !== "note") return entry.text;
  switch (entry.kind) {
    case "move":
      return moveText(step);
    case "hidden":
      return turn ? "a hidden move" : "";
    case "flag":
      return "time ran out";
    case "resign":
      return "resigned";
    case "forfeit":
      return CAUSES[String(entry.cause)] ?? "dropped out";
    case "leave":
      return "disconnected";
    case "return":
      return "reconnected";
    case "replace":
      return `${playerName(entry) || seatName(entry.seat ?? 0, names)} plays on`;
    case "abort":
      return `ended by the server: ${String(entry.detail ?? "")}`;
    default:
      return entry.kind;
  }
}

/**
 * Describe a move in a sentence: "Ada played e4."
 * @param {Step} step
 * @param {readonly string[]} names of the players
 */
export function lastText(step, names) {
  return `${seatName(step.entry.seat ?? 0, names)} played ${stepText(step, true, names)}.`;
}

/** @param {Entry} entry */
function playerName(entry) {
  const player = /** @type {{name: string, kind: string} | undefined} */ (entry.player);
  return player && shownName(player);
}

/** Describe a move by the cells that it marks or fills, or else by its action. */
function moveText(/** @type {Step} */ { entry, paint }) {
  const action = entry.action ?? {};
  const words = Object.values(action).filter((value) => typeof value === "string");
  const own = (paint?.marks ?? []).filter((mark) => mark.seat === undefined || mark.seat === entry.seat);
  const cells = (/** @type {string} */ kind) => own.find((mark) => mark.kind === kind)?.cells ?? [];
  if (cells("path").length > 1 && words.length === 0) return cells("path").join("-");
  const ends = [...cells("from"), ...cells("to")];
  if (ends.length > 0 && words.length === 0) return ends.join("-");
  if (words.length > 0) return words.join(" ");
  const filled = Object.entries(paint?.cells ?? {})
    .filter(([, cell]) => cell?.owner === entry.seat).map(([name]) => name);
  return filled.length === 1 ? filled[0] : Object.values(action).join("-") || "passes";
}

/**
 * Format a bot's comment on its move in one line: `+1.5, depth 7, 12,000 nodes`.
 * @param {import("./course.js").Comment} comment
 */
export function commentText(comment) {
  const parts = [];
  if (comment.value !== undefined && comment.value !== null) parts.push(valueText(comment.value));
  if (comment.depth) parts.push(`depth ${comment.depth}`);
  if (comment.nodes) parts.push(`${comment.nodes.toLocaleString("en")} nodes`);
  if (comment.text) parts.push(comment.text);
  return parts.join(", ");
}

/** Searches write a win after `n` plies as a million less `n`, and a loss as the negative. */
const WIN = 1_000_000;
const MAX_PLIES = 10_000;

/** Whether a value means a proven win or loss. @param {number} value */
export function isProved(value) {
  return Math.abs(value) >= WIN - MAX_PLIES;
}

/** @param {number} value */
export function valueText(value) {
  if (isProved(value)) {
    const plies = Math.max(0, Math.round(WIN - Math.abs(value)));
    return `${value > 0 ? "won" : "lost"}${plies > 0 ? ` in ${plies}` : ""}`;
  }
  const rounded = Math.abs(value) >= 100 ? Math.round(value) : Math.round(value * 100) / 100;
  return value > 0 ? `+${rounded}` : String(rounded);
}
