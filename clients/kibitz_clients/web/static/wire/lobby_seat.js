// A player's possible actions in a lobby, and the lobby's progress, from its view. Pure.

import { bySeat } from "./lobbies.js";
import { shownName } from "./names.js";

/** @typedef {import("./messages.js").LobbyView} LobbyView */
/** @typedef {import("./messages.js").Member} Member */
/** @typedef {import("./messages.js").LobbySettings} LobbySettings */
/** @typedef {LobbySettings["seats"][number]} SeatSpec */
/**
 * @typedef {object} Rights
 * @property {Member | undefined} member this player's membership
 * @property {boolean} host whether this player opened the lobby
 * @property {boolean} join whether this player may take a seat
 * @property {boolean} ready whether readiness may be changed
 * @property {boolean} start
 * @property {boolean} rematch
 * @property {boolean} close
 */

/**
 * @param {LobbyView} view
 * @param {string} me the player's key
 * @param {string} myName
 * @returns {Rights}
 */
export function rights(view, me, myName) {
  const member = view.members[me];
  const host = view.host === me;
  const gathering = view.state === "gathering";
  const over = view.state === "finished";
  return {
    member,
    host,
    join: !member && (gathering || over) && freeSeatFor(view, myName) !== null,
    ready: Boolean(member) && gathering,
    start: host && gathering,
    rematch: (host || Boolean(view.seek && member)) && over,
    close: host && view.state !== "closed",
  };
}

/**
 * Return the seat that a player with this name would get, as far as the view shows; null for none.
 * @param {LobbyView} view
 * @param {string} name
 */
export function freeSeatFor(view, name) {
  const taken = new Set(Object.values(view.members).map((member) => member.seat));
  const free = view.settings.seats.map((spec, seat) => ({ spec, seat })).filter(({ seat }) => !taken.has(seat));
  const same = (/** @type {SeatSpec} */ spec) =>
    spec.kind === "reserved" && spec.name.toLowerCase() === name.toLowerCase();
  const given = new Set((view.house_trouble ?? []).filter((line) => line.given_up).map((line) => line.seat));
  const place = free.find(({ spec }) => same(spec))
    ?? free.find(({ spec, seat }) => spec.kind === "open" || given.has(seat));
  return place?.seat ?? null;
}

/**
 * Return how many matches of a round were played and how many will not be.
 * @param {LobbyView} view
 */
export function playedText(view) {
  const skipped = view.void ?? 0;
  const played = `${view.done - skipped} of ${view.planned} ${view.planned === 1 ? "match" : "matches"} played`;
  return skipped ? `${played}, ${skipped} will not be` : played;
}

/**
 * Return why a lobby cannot start yet, as text; empty if it can.
 * @param {LobbyView} view
 */
export function waitsFor(view) {
  if (view.state !== "gathering") return "";
  const free = view.settings.seats.length - Object.keys(view.members).length;
  if (free) return free === 1 ? "One seat is still empty." : `${free} seats are still empty.`;
  const unready = bySeat(view).filter((member) => !member.ready).map(shownName);
  return unready.length ? `Not ready yet: ${unready.join(", ")}.` : "";
}
