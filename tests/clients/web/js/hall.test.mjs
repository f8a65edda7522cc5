import assert from "node:assert/strict";
import { test } from "node:test";
import { use } from "./use.mjs";

const { Hall, newest } = await use("wire/hall.js");
const HALL = {
  type: "hall", lobbies: { a: { lobby: "a", order: 1 }, b: { lobby: "b", order: 2 } },
  matches: { m: { match: "m", order: 1, ply: 3 } }, finished: {}, ladders: { nim: { game: "nim", lines: [] } },
  lobbies_in_all: 2, matches_in_all: 1,
};

class FakeConnection extends EventTarget {
  request() { return Promise.resolve({}); }

  tell(message) { this.dispatchEvent(new CustomEvent("news", { detail: message })); }
}

test("the hall, and its patches", async () => {
  const connection = new FakeConnection();
  const hall = new Hall(connection);
  await hall.open();
  connection.tell({ type: "hall_changed", patch: { lobbies_in_all: 7 } });
  assert.equal(hall.view, null);
  connection.tell(HALL);
  connection.tell({ type: "hall_changed", patch: {
    lobbies: { c: { lobby: "c", order: 3 }, a: { state: "running" }, b: null },
    matches: { m: { ply: 4 } }, lobbies_in_all: 12,
  } });
  assert.deepEqual(newest(hall.view.lobbies), [{ lobby: "c", order: 3 }, { lobby: "a", order: 1, state: "running" }]);
  assert.deepEqual(hall.view.matches, { m: { match: "m", order: 1, ply: 4 } });
  assert.deepEqual([hall.view.lobbies_in_all, hall.view.matches_in_all], [12, 1]);
  assert.equal(hall.view.finished, HALL.finished);
});

test("the newest come first, whatever their keys look like", () => {
  const briefs = { 7: { order: 1 }, x: { order: 3 }, 1: { order: 2 } };
  assert.deepEqual(newest(briefs).map((each) => each.order), [3, 2, 1]);
});
