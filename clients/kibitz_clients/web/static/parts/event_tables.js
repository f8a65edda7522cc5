// The tables and lines of an event, from the results written by the arena.

import { at } from "./address.js";
import { h } from "./dom.js";
import { counted } from "./names.js";

/**
 * @typedef {{name: string, games: number, wins: number, draws: number, losses: number,
 *   points: number, rating: number | null, low: number | null, high: number | null,
 *   anchor: boolean}} Standing
 * @typedef {{games: number, wins: number, draws: number, losses: number}} HeadToHead
 * @typedef {{claim: string, games: number, wins: number, draws: number, losses: number,
 *   share: boolean, measured: number | null, low: number | null, high: number | null,
 *   holds: boolean | null}} Claim
 * @typedef {{tag: string, match: string, players: string[], places: number[], plies: number,
 *   termination: string}} Game
 * @typedef {{tag: string, round?: number | null, players: string[]}} Pairing
 * @typedef {{event: {name: string, game: string, seats: number, time_control: string,
 *   format: string}, standings: Standing[], crosstable: (HeadToHead | null)[][], games: Game[],
 *   claims: Claim[], planned: number, played: number, finished: boolean, stopped: string | null,
 *   seconds: number}} Results
 * @typedef {{lobby: string, results: Results, running: Pairing[], next: Pairing[]}} LiveEvent
 */

const NONE = "–";

/** Describe the programme and its progress. @param {Results} results @param {string} game */
export function facts(results, game) {
  const { event, planned, played } = results;
  const clock = event.time_control === "none" ? "no clock" : `clock ${event.time_control}`;
  const state = results.finished ? "finished"
    : results.stopped ? `stopped: ${results.stopped}` : `${planned - played} left`;
  return [
    game, event.format, clock, counted(results.standings.length, "entrant"),
    `${played} of ${counted(planned, "game")}, ${state}`,
  ].join(" · ");
}

/** @param {Results} results */
export function standings(results) {
  const heads = ["Rating", "±", "Points", "Games", "Won", "Drawn", "Lost"];
  return h("table", null,
    h("thead", null, h("tr", null,
      h("th", { scope: "col" }, "#"), h("th", { scope: "col" }, "Entrant"),
      heads.map((text) => h("th", { scope: "col", class: "number" }, text)))),
    h("tbody", null, results.standings.map((line, index) => h("tr", null,
      h("td", null, index + 1),
      h("th", { scope: "row", class: "name" }, line.name),
      [
        elo(line.rating), line.anchor ? "anchor" : margin(line), points(line.points), line.games,
        line.wins, line.draws, line.losses,
      ].map((value) => h("td", { class: "number" }, value))))));
}

/** Points of the row against the column. @param {Results} results */
export function crosstable(results) {
  const names = results.standings.map((line) => line.name);
  return h("table", { class: "crosstable" },
    h("caption", null, results.event.seats === 2
      ? "Points of the row against the column / games played"
      : "Times the row finished ahead of the column (a tie counts half) / games played"),
    h("thead", null, h("tr", null,
      h("th", { scope: "col" }, "Entrant"),
      names.map((name, index) => h("th", { scope: "col", class: "number", title: name },
        h("span", { "aria-hidden": "true" }, index + 1),
        h("span", { class: "visually-hidden" }, name))))),
    h("tbody", null, results.crosstable.map((row, index) => h("tr", null,
      h("th", { scope: "row", class: "name" }, `${index + 1} ${names[index]}`),
      row.map((pair) => h("td", { class: "number" }, cell(pair)))))));
}

/** @param {HeadToHead | null} pair */
function cell(pair) {
  if (pair === null) return "×";
  return pair.games ? `${points(pair.wins + 0.5 * pair.draws)}/${pair.games}` : NONE;
}

/** @param {Claim} claim */
export function claimLine(claim) {
  const [sign, word, tone] = claim.holds === null
    ? ["…", "not played", "open"] : claim.holds ? ["✓", "holds", "good"] : ["✗", "fails", "bad"];
  const figures = claim.measured === null ? "" :
    `${amount(claim, claim.measured)} (${amount(claim, claim.low)} to ${amount(claim, claim.high)}), ` +
    `${claim.wins}-${claim.draws}-${claim.losses} in ${counted(claim.games, "game")}`;
  return h("li", { class: `line claim claim-${tone}` },
    h("strong", { class: "claim-state" }, `${sign} ${word}`),
    h("span", { class: "grow" }, claim.claim),
    h("span", { class: "muted" }, figures));
}

/** @param {Pairing} pairing @param {string | null} match the match it is played in */
export function pairingLine(pairing, match) {
  const names = pairing.players.join(" – ");
  const round = pairing.round ? `round ${pairing.round}` : "";
  return h("li", { class: "line" },
    match ? h("a", { class: "grow", href: at(`/match/${match}`) }, names)
      : h("span", { class: "grow name" }, names),
    h("span", { class: "muted" }, [round, pairing.tag].filter(Boolean).join(", ")));
}

/** @param {Game} game */
export function gameLine(game) {
  const order = game.players
    .map((name, seat) => ({ name, place: game.places[seat] }))
    .sort((a, b) => a.place - b.place);
  const text = order.map(({ name, place }) => `${place}. ${name}`).join("  ");
  const tie = order.every(({ place }) => place === 1);
  const odd = game.termination === "normal" ? "" : `, ${game.termination}`;
  return h("li", { class: "line" },
    h("a", { class: "grow", href: at(`/match/${game.match}`) },
      tie ? `${order.map(({ name }) => name).join(" – ")}: drawn` : text),
    h("span", { class: "muted" }, `${counted(game.plies, "move")}${odd}`));
}

/** @param {Claim} claim @param {number | null} value */
function amount(claim, value) {
  if (value === null) return NONE;
  return claim.share ? `${(100 * value).toFixed(1)}%` : value.toFixed(1);
}

/** @param {number | null} value */
function elo(value) {
  if (value === null) return NONE;
  const whole = Math.round(value);
  return whole > 0 ? `+${whole}` : String(whole).replace("-", "−");
}

/** @param {Standing} line */
function margin({ low, high }) {
  return low === null || high === null ? NONE : String(Math.round((high - low) / 2));
}

/** @param {number} value */
function points(value) {
  return Number.isInteger(value) ? String(value) : value.toFixed(1);
}
