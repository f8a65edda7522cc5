// The result of a match as text. Seats without a name are counted from 1. Pure.

/** @typedef {import("../wire/messages.js").Result} Result */

/** @type {Record<string, string>} */
const CAUSES = {
  resignation: "by resignation",
  time: "on time",
  illegal: "by illegal moves",
  crash: "because a bot failed",
  disconnect: "because a player was away",
  abandoned: "because players left",
  takeover: "because a seat was taken over",
  kicked: "because the host removed a player",
  aborted: "because the operator aborted the match",
  infrastructure: "because of a server error",
};

/**
 * Return the result as text: "ada won with five in a row", "drawn", "1st ada, 2nd ben, 3rd cy".
 * @param {Result} result
 * @param {string[]} names of the seats
 * @param {Record<string, string>} [endings] the game's texts for its reasons
 */
export function resultText(result, names, endings = {}) {
  const lines = result.seats.map((seat, i) => ({ rank: seat.rank, name: names[i] ?? `seat ${i + 1}` }));
  const best = lines.filter((line) => line.rank === 1);
  const why = CAUSES[result.cause] ?? reasonText(result.reason, endings);
  if (result.cause === "infrastructure" || result.cause === "aborted") return `not finished ${why}`;
  if (best.length === lines.length && lines.length > 1) return `drawn ${why}`.trim();
  if (lines.length <= 2) return `${best[0]?.name ?? "nobody"} won ${why}`.trim();
  const order = lines.sort((a, b) => a.rank - b.rank);
  return order.map((line) => `${ordinal(line.rank)} ${line.name}`).join(", ");
}

/** @param {string | undefined} reason @param {Record<string, string>} endings */
function reasonText(reason, endings) {
  if (!reason) return "";
  return Object.hasOwn(endings, reason) ? endings[reason] : `(${reason})`;
}

/** @param {number} rank */
export function ordinal(rank) {
  const tail = rank % 100 > 10 && rank % 100 < 14 ? "th" : ["th", "st", "nd", "rd"][rank % 10];
  return `${rank}${tail ?? "th"}`;
}
