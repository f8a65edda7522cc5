import assert from "node:assert/strict";
import { test } from "node:test";
import { use } from "./use.mjs";

const { controlText, leftText, untilFlag } = await use("wire/clock.js");
const { Throttle } = await use("wire/throttle.js");
const { listOf, scalarOf, withoutNull, words } = await use("parts/forms.js");
const { resultText } = await use("parts/results.js");
const { shownName } = await use("wire/names.js");
const { tokenIn } = await use("pages/sign_in.js");

test("clocks", () => {
  assert.equal(untilFlag({ move_ms: 5, period_ms: 10 }, { main_ms: 1, bank_ms: 2, periods: 3 }), 38);
  assert.equal(controlText({}), "none");
  assert.equal(controlText({ main_ms: 60_000, increment_ms: 500 }), "60+0.5");
  assert.equal(controlText({ main_ms: 60_000, periods: 3, period_ms: 10_000 }), "byo=60+3x10");
  assert.equal(controlText({ move_ms: 1_000, bank_ms: 30_000 }), "move=1,bank=30");
  assert.deepEqual([0, 9_949, 10_000, 65_000, 3_600_000].map(leftText), ["0.0", "9.9", "0:10", "1:05", "1:00:00"]);
});

test("the throttle never overdraws", () => {
  const throttle = new Throttle(10, 2, 0);
  assert.deepEqual([throttle.take(1, 0), throttle.take(1, 0), throttle.take(1, 0)], [0, 0, 100]);
  assert.equal(throttle.take(1, 100), 0);
  throttle.drain(1_000, 100);
  assert.equal(throttle.take(1, 100), 1_000);
  assert.equal(throttle.take(9, 10_000), 0);
});

test("what is typed into forms", () => {
  assert.deepEqual(listOf("3, 1 4", { items: { type: "integer" } }), [3, 1, 4]);
  assert.deepEqual(listOf("3-14 e5", { items: { type: "string" } }), ["3-14", "e5"]);
  assert.deepEqual([scalarOf(" 12 "), scalarOf("2/5"), scalarOf("mean")], [12, "2/5", "mean"]);
  assert.deepEqual(withoutNull({ anyOf: [{ type: "integer" }, { type: "null" }] }).type, "integer");
  assert.equal(words("dead_board_draw"), "Dead board draw");
});

test("a house bot is shown without the prefix that reserves its name", () => {
  assert.equal(shownName({ name: "house greedy 2", kind: "house" }), "greedy 2");
  assert.equal(shownName({ name: "Computer, level 1", kind: "house" }), "Computer, level 1");
  assert.equal(shownName({ name: "house of cards", kind: "human" }), "house of cards");
});

test("results in words", () => {
  const seats = [{ rank: 2, score: 0 }, { rank: 1, score: 1 }];
  assert.equal(resultText({ seats, cause: "time", plies: 3 }, ["ada", "ben"]), "ben won on time");
  assert.equal(resultText({ seats, cause: "rules", reason: "goal", plies: 3 }, ["ada", "ben"]), "ben won (goal)");
  const endings = { four: "with four in a row" };
  const ended = (reason) => resultText({ seats, cause: "rules", reason, plies: 3 }, ["ada", "ben"], endings);
  assert.equal(ended("four"), "ben won with four in a row");
  assert.equal(ended("toString"), "ben won (toString)");
  assert.equal(resultText({ seats, cause: "time", reason: "four", plies: 3 }, ["ada", "ben"], endings), "ben won on time");
  const drawn = [{ rank: 1 }, { rank: 1 }];
  assert.equal(resultText({ seats: drawn, cause: "rules", reason: "full", plies: 3 }, ["a", "b"]), "drawn (full)");
  const four = [{ rank: 3 }, { rank: 1 }, { rank: 2 }, { rank: 4 }];
  assert.equal(resultText({ seats: four, cause: "rules", plies: 3 }, ["a", "b", "c"]), "1st b, 2nd c, 3rd a, 4th seat 4");
});

test("a token in what was pasted", () => {
  assert.equal(tokenIn(" abc "), "abc");
  assert.equal(tokenIn("https://x.example/#token=a%2Bb"), "a+b");
  assert.equal(tokenIn("https://x.example/lobby/L7#invite=q&token=t1"), "t1");
});

test("a refused form is told in its own words", async () => {
  const { withoutPaths } = await use("parts/refusals.js");
  assert.equal(
    withoutPaths("settings.programme.0.games: a block is 2 matches; or rotate=false (--no-rotate)"),
    "Game 1, games: a block is 2 matches; or rotate=false",
  );
  assert.equal(withoutPaths("settings.programme.2.options.dead_board_draw: no"), "Game 3, dead board draw: no");
  assert.equal(withoutPaths("settings.seats.1.bot: unknown"), "Seat 2: unknown");
  assert.equal(withoutPaths("settings.spectating.delay_plies: too many"), "Spectating delay plies: too many");
  assert.equal(withoutPaths("the name is taken"), "The name is taken");
});
