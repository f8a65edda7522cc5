// How a match ended, in a few words. Pure.

/** @typedef {{name: string}} Named */
/** @typedef {{seats: {rank: number, cause?: string | null}[], cause: string, reason?: string}} Ended */

const CAUSES = {
  resignation: "resigned",
  time: "out of time",
  illegal: "illegal move",
  crash: "crashed",
  disconnect: "disconnected",
  abandoned: "left",
  takeover: "taken over",
};

/**
 * Who has won: "ada wins", "draw", "ada and bob share the first place".
 * @param {readonly Named[]} players
 * @param {Ended} result
 */
export function outcome(players, result) {
  if (result.cause === "infrastructure") return "ended by a failure of the server";
  const best = players.filter((_, seat) => result.seats[seat]?.rank === 1);
  if (best.length === players.length) return "draw";
  const names = best.map((player) => player.name);
  if (names.length === 1) return `${names[0]} wins`;
  return `${names.slice(0, -1).join(", ")} and ${names.at(-1)} share the first place`;
}

/**
 * Why, where it was not by the rules: "bob out of time"; empty otherwise.
 * @param {readonly Named[]} players
 * @param {Ended} result
 */
export function dropOuts(players, result) {
  return players
    .flatMap((player, seat) => {
      const word = CAUSES[/** @type {keyof typeof CAUSES} */ (result.seats[seat]?.cause ?? "")];
      return word ? [`${player.name} ${word}`] : [];
    })
    .join(", ");
}
