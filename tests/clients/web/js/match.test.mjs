import assert from "node:assert/strict";
import { test } from "node:test";
import { use } from "./use.mjs";

const { MatchModel } = await use("wire/match.js");
const STAGE = { lattice: "square", cells: {}, labels: [], marks: [], text: [], colours: [] };

function snapshot(fields = {}) {
  return {
    type: "snapshot", match: "m1", why: "started", game: "nim", rules_version: 1, options: {},
    seats: [{ player: "a", name: "ada", kind: "human" }, { player: "b", name: "ben", kind: "bot" }],
    seq: 0, ply: 0, to_act: 0, you: 0, stage: STAGE,
    time_control: { main_ms: 10_000, increment_ms: 100 },
    clocks: [{ main_ms: 10_000 }, { main_ms: 9_000 }], left_ms: 8_000, ...fields,
  };
}

function event(seq, fields = {}) {
  return { type: "event", match: "m1", ply: seq, to_act: seq % 2, entry: { kind: "move", seq, seat: 0 }, ...fields };
}

function model(fields) {
  const made = new MatchModel("m1");
  const seen = [];
  made.addEventListener("change", ({ detail }) => seen.push(detail.why));
  made.take(snapshot(fields));
  return { made, seen };
}

test("news of other matches are left alone", () => {
  const { made } = model();
  assert.equal(made.take({ ...event(1), match: "m2" }), false);
  assert.equal(made.take({ type: "lobby" }), false);
});

test("events in order, duplicates dropped, holes noticed", () => {
  const { made, seen } = model();
  made.take(event(1, { patch: { text: ["x"] } }));
  made.take(event(1, { patch: { text: ["again"] } }));
  assert.deepEqual(made.stage.text, ["x"]);
  made.take(event(3));
  assert.equal(made.gap, true);
  made.take(event(2));
  assert.equal(made.seq, 1);
  made.take(snapshot({ seq: 3, ply: 3, why: "rejoined" }));
  assert.equal(made.gap, false);
  made.take(event(4));
  assert.equal(made.seq, 4);
  assert.deepEqual(seen, ["snapshot", "event", "gap", "snapshot", "event"]);
});

test("the clock of who is to act runs, and no other", () => {
  const { made } = model();
  const at = made.clocks.at;
  assert.equal(made.leftMs(0, at + 1_000), 7_000);
  assert.equal(made.leftMs(1, at + 1_000), 9_000);
  assert.equal(made.leftMs(0, at + 60_000), 0);
  made.take(event(1, { clocks: [{ main_ms: 7_100 }, { main_ms: 9_000, periods: 2 }] }));
  assert.equal(made.leftMs(0, made.clocks.at + 500), 7_100);
  assert.equal(made.leftMs(1, made.clocks.at + 500), 8_500);
});

test("a turn lasts until the ply is over", () => {
  const { made } = model();
  made.take({ type: "your_turn", match: "m1", seat: 0, ply: 0, picks: [], legal_count: 0 });
  made.take(event(1, { ply: 0, to_act: 0, entry: { kind: "note", seq: 1, seat: 1 } }));
  assert.ok(made.turn);
  made.take(event(2, { ply: 1, to_act: 1 }));
  assert.equal(made.turn, null);
});

test("seats go away, come back, and are taken over", () => {
  const { made } = model({ away: [1] });
  assert.deepEqual([...made.away], [1]);
  made.take(event(1, { entry: { kind: "return", seq: 1, seat: 1 } }));
  made.take(event(2, { entry: { kind: "leave", seq: 2, seat: 0 } }));
  assert.deepEqual([...made.away], [0]);
  const player = { player: "h", name: "house", kind: "house" };
  made.take(event(3, { entry: { kind: "replace", seq: 3, seat: 0, player } }));
  assert.deepEqual(made.seats, ["house", "ben"]);
});

test("the end", () => {
  const { made, seen } = model();
  const result = { seats: [], cause: "rules", plies: 9 };
  made.take({ type: "finished", match: "m1", seq: 9, result, stage: { ...STAGE, text: ["all"] } });
  assert.equal(made.toAct, -1);
  assert.deepEqual(made.stage.text, ["all"]);
  assert.deepEqual(seen, ["snapshot", "finished"]);
});
