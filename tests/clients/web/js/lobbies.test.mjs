import assert from "node:assert/strict";
import { test } from "node:test";
import { use } from "./use.mjs";

const { Lobbies, bySeat, standingOrder, table } = await use("wire/lobbies.js");
const { freeSeatFor, playedText, rights, waitsFor } = await use("wire/lobby_seat.js");

function member(player, seat, ready = true) {
  return { player, name: player, kind: "human", seat, ready, connected: true };
}

function line(player, points, more = {}) {
  return { player, name: player, played: 1, wins: 0, draws: 0, losses: 0, points, ...more };
}

function lobby(fields = {}) {
  return {
    lobby: "L7", host: "p-ada", state: "gathering", round: 1, members: { "p-ada": member("p-ada", 0) },
    settings: { seats: [{ kind: "reserved", name: "Ada" }, { kind: "open" }] },
    planned: 2, done: 0, live: {}, standings: {}, ...fields,
  };
}

function patched(view, ...patches) {
  const lobbies = new Lobbies();
  lobbies.take({ type: "lobby", lobby: view });
  for (const patch of patches) lobbies.take({ type: "lobby_changed", lobby: "L7", patch });
  return lobbies.views.get("L7");
}

test("patches take the place of what they name", () => {
  const more = {
    members: { "p-ben": member("p-ben", 1, false) }, standings: { b: line("b", 2) }, state: "running", done: 1,
  };
  const view = patched(lobby({ standings: { a: line("a", 1) } }), more);
  assert.deepEqual(bySeat(view).map((each) => each.player), ["p-ada", "p-ben"]);
  assert.deepEqual(table(view).map((each) => each.player), ["b", "a"]);
  assert.equal(view.state, "running");
  assert.equal(view.planned, 2);
  const less = patched(view, { members: { "p-ada": null, "p-ben": { ready: true } }, standings: { b: null } });
  assert.deepEqual(bySeat(less), [member("p-ben", 1)]);
  assert.deepEqual(table(less).map((each) => each.player), ["a"]);
});

test("what is not played at all is not told as played", () => {
  assert.equal(playedText(lobby({ planned: 50, done: 20 })), "20 of 50 matches played");
  assert.equal(playedText(lobby({ planned: 50, done: 50, void: 42 })), "8 of 50 matches played, 42 will not be");
  assert.equal(playedText(lobby({ planned: 1, done: 0 })), "0 of 1 match played");
});

test("a change that is heard twice does no harm, and one of an unknown lobby is passed over", () => {
  const lobbies = new Lobbies();
  lobbies.take({ type: "lobby_changed", lobby: "L7", patch: { done: 1 } });
  assert.equal(lobbies.views.size, 0);
  lobbies.take({ type: "lobby", lobby: lobby() });
  const news = { type: "lobby_changed", lobby: "L7", patch: { members: { "p-ben": member("p-ben", 1) } } };
  lobbies.take(news);
  const once = lobbies.views.get("L7");
  lobbies.take(news);
  assert.deepEqual(lobbies.views.get("L7"), once);
});

test("matches begin and end", () => {
  const lobbies = new Lobbies();
  let changes = 0;
  lobbies.addEventListener("change", () => { changes += 1; });
  lobbies.take({ type: "lobby", lobby: lobby() });
  for (let i = 0; i < 2; i++) lobbies.take({ type: "match_started", lobby: "L7", match: { match: "m1" } });
  assert.equal(lobbies.views.get("L7").live.m1.match, "m1");
  lobbies.take({ type: "match_ended", lobby: "L7", match: { match: "m1" } });
  assert.deepEqual(lobbies.views.get("L7").live, {});
  assert.equal(changes, 4);
  lobbies.take({ type: "lobby_closed", lobby: "L7", reason: "closed" });
  assert.equal(lobbies.views.size, 0);
});

test("lines are sorted by points, wins, fewer matches, name and key", () => {
  const lines = [
    line("e", 1), line("d", 1, { name: "a" }), line("c", 1, { played: 0 }), line("b", 1, { wins: 1 }), line("a", 2),
  ];
  assert.deepEqual(lines.sort(standingOrder).map((each) => each.player), ["a", "b", "c", "d", "e"]);
});

test("who may do what", () => {
  const host = rights(lobby(), "p-ada", "ada");
  assert.deepEqual([host.host, host.start, host.close, host.join], [true, true, true, false]);
  const guest = rights(lobby(), "p-ben", "ben");
  assert.deepEqual([guest.host, guest.start, guest.join, guest.ready], [false, false, true, false]);
  assert.equal(rights(lobby({ state: "running" }), "p-ben", "ben").join, false);
  assert.equal(rights(lobby({ state: "finished" }), "p-ada", "ada").rematch, true);
});

test("a seat that is kept is its player's", () => {
  const empty = lobby({ members: {} });
  assert.equal(freeSeatFor(empty, "ada"), 0);
  assert.equal(freeSeatFor(empty, "ben"), 1);
  const full = lobby({ members: { "p-x": member("p-x", 1) } });
  assert.equal(freeSeatFor(full, "ben"), null);
  assert.match(waitsFor(full), /One seat/);
  assert.match(waitsFor(lobby({ members: { b: member("b", 1, false), a: member("a", 0) } })), /Not ready yet: b/);
});
