import assert from "node:assert/strict";
import { test } from "node:test";
import { use } from "./use.mjs";

const { changedHall } = await use("wire/hall.js");
const HALL = {
  type: "hall", lobbies: [{ lobby: "b", order: 2 }, { lobby: "a", order: 1 }],
  matches: [{ match: "m", order: 1, ply: 3 }], finished: [], ladders: [{ game: "nim", lines: [] }],
  lobbies_in_all: 2, matches_in_all: 1,
};

test("what is new, changed and gone", () => {
  const next = changedHall(HALL, {
    lobbies: [{ lobby: "c", order: 3 }, { lobby: "a", order: 1, state: "running" }], lobbies_gone: ["b"],
    plies: { m: 4, x: 9 }, ladders: [{ game: "go", lines: [] }], lobbies_in_all: 12,
  });
  assert.deepEqual(next.lobbies, [{ lobby: "c", order: 3 }, { lobby: "a", order: 1, state: "running" }]);
  assert.deepEqual(next.matches, [{ match: "m", order: 1, ply: 4 }]);
  assert.deepEqual(next.ladders.map((each) => each.game), ["go", "nim"]);
  assert.deepEqual([next.lobbies_in_all, next.matches_in_all], [12, 1]);
  assert.equal(next.finished, HALL.finished);
});

test("one that is gone and new again is there", () => {
  const next = changedHall(HALL, { matches_gone: ["m"], matches: [{ match: "m", order: 5, ply: 0 }] });
  assert.deepEqual(next.matches, [{ match: "m", order: 5, ply: 0 }]);
});
