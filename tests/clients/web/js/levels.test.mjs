import assert from "node:assert/strict";
import { test } from "node:test";

import { use } from "./use.mjs";

const { levelsOf } = await use("parts/levels.js");

test("the levels of a game are its bots with their parameters, the weakest first", () => {
  const bot = (name, ...levels) => ({ name, seats: [], summary: "", parameters: [], levels });
  const list = {
    games: [], personalities: [], bots: [
      bot("x/mcts", { level: 3, seats: 2, parameters: "iterations=9" }, { level: 2, seats: 2, parameters: "iterations=3" },
        { level: 1, seats: 3, parameters: "" }),
      bot("x/random", { level: 1, seats: 2, parameters: "" }),
      bot("xy/random", { level: 1, seats: 2, parameters: "" }),
      { name: "x/old", seats: [], summary: "", parameters: [] },
    ],
  };
  assert.deepEqual(levelsOf(list, "x", 2), ["x/random", "x/mcts:iterations=3", "x/mcts:iterations=9"]);
  assert.deepEqual(levelsOf(list, "x", 3), ["x/mcts"]);
  assert.deepEqual(levelsOf(list, "none", 2), []);
  assert.deepEqual(levelsOf({ games: [], personalities: [] }, "x", 2), []);
});
