import assert from "node:assert/strict";
import test from "node:test";

import { use } from "./use.mjs";

const { EMPTY_MS, LEAST, LINGER_MS, WallSlots, capacity, columns } = await use("parts/wall_slots.js");
const { merge, removes } = await use("wire/paint.js");
const { apply } = await use("wire/merge_patch.js");
const { DrawQueue } = await use("parts/draw_queue.js");

const running = (...matches) =>
  matches.map((match) => ({ match, game: match.split("-")[0] }));

test("every running match has a board while there is room", () => {
  const slots = new WallSlots();
  assert.equal(slots.update(running("a-1", "b-1", "a-2"), 8, 0), true);
  assert.deepEqual(slots.matches.sort(), ["a-1", "a-2", "b-1"]);
  assert.equal(slots.update(running("a-1", "b-1", "a-2"), 8, 1), false);
});

test("where there is not room for all, games share it evenly", () => {
  const slots = new WallSlots();
  slots.update(running("a-1", "a-2", "a-3", "b-1", "b-2", "c-1"), 3, 0);
  assert.deepEqual(slots.matches.sort(), ["a-1", "b-1", "c-1"]);
});

test("an end is shown for a while, and then another match has the board", () => {
  const slots = new WallSlots();
  slots.update(running("a-1", "b-1"), 2, 0);
  slots.end("a-1", 1000);
  slots.update(running("b-1", "a-2"), 2, 1000 + LINGER_MS - 1);
  assert.deepEqual(slots.matches, ["a-1", "b-1"]);
  slots.update(running("b-1", "a-2"), 2, 1000 + LINGER_MS);
  assert.deepEqual(slots.matches, ["a-2", "b-1"]);
});

test("a board that nobody takes goes away", () => {
  const slots = new WallSlots();
  slots.update(running("a-1", "b-1"), 2, 0);
  slots.end("a-1", 0);
  slots.update(running("b-1"), 2, LINGER_MS);
  assert.equal(slots.slots.length, 2);
  slots.update(running("b-1"), 2, LINGER_MS + EMPTY_MS);
  assert.deepEqual(slots.slots.map((slot) => slot.match), ["b-1"]);
});

test("a smaller window has fewer boards, and what may not be seen has none", () => {
  const slots = new WallSlots();
  slots.update(running("a-1", "a-2", "a-3"), 3, 0);
  slots.update(running("a-1", "a-2", "a-3"), 1, 1);
  assert.equal(slots.matches.length, 1);
  const hidden = [{ match: "x", game: "a", watchable: false }, { match: "y", game: "a", void: true }];
  const other = new WallSlots();
  other.update([...hidden, { match: "z", game: "a", result: {} }], 5, 0);
  assert.deepEqual(other.matches, []);
  slots.drop(slots.matches[0], 2);
  slots.update([], 1, 2 + EMPTY_MS);
  assert.deepEqual(slots.slots, []);
});

test("columns make the boards as large as they can be", () => {
  assert.equal(columns(1, 800, 600), 1);
  assert.equal(columns(2, 1600, 600), 2);
  assert.equal(columns(2, 400, 1200), 1);
  assert.ok(capacity(3840, 2160) >= 200);
  assert.equal(capacity(LEAST.width - 1, LEAST.height - 1), 1);
  assert.ok(capacity(360, 700) >= 4);
});

test("two paints as one do what they do in a row", () => {
  const cell = (x, owner) => ({ x, y: 0, kind: "point", ...(owner === undefined ? {} : { owner }) });
  const stage = {
    lattice: "square", labels: [], marks: [], text: ["0"], colours: [],
    cells: { a: cell(0), b: cell(1), c: cell(2) },
  };
  const paints = [
    { cells: { a: { owner: 1 }, d: cell(3) }, text: ["1"] },
    { cells: { c: { owner: 0 }, d: { owner: 2 } }, marks: [{ kind: "to", cells: ["c"] }] },
    { cells: { a: { owner: null }, c: { kind: "hole" } } },
    {},
    { cells: { a: { owner: 2 }, b: null }, text: ["2"] },
  ];
  assert.deepEqual(paints.map(removes), [false, false, false, false, true]);
  const one = paints.reduce(merge);
  assert.deepEqual(apply(stage, one), paints.reduce(apply, stage));
  for (let i = 0; i + 1 < paints.length; i += 1) {
    const before = paints.slice(0, i).reduce(apply, stage);
    assert.deepEqual(apply(before, merge(paints[i], paints[i + 1])),
      apply(apply(before, paints[i]), paints[i + 1]));
  }
});

test("boards are drawn in turn, fewer a frame while frames are late", () => {
  /** @type {((now: number) => void)[]} */
  const frames = [];
  globalThis.requestAnimationFrame = (frame) => frames.push(frame);
  const queue = new DrawQueue();
  const drawn = [];
  const boards = [...Array(100).keys()].map((i) => ({ draw: () => drawn.push(i) }));
  boards.forEach((board) => queue.add(board));
  boards.forEach((board) => queue.add(board));
  queue.remove(boards[99]);
  let now = 0;
  let most = Infinity;
  while (frames.length) {
    const before = drawn.length;
    frames.shift()(now += 100);
    assert.ok(drawn.length - before <= most, "the quota does not grow while frames are late");
    most = drawn.length - before || most;
  }
  assert.deepEqual(drawn, boards.slice(0, 99).map((_, i) => i));
  assert.ok(most < 16);
});

test("a frame draws boards of one band, and the bands take turns", () => {
  /** @type {((now: number) => void)[]} */
  const frames = [];
  globalThis.requestAnimationFrame = (frame) => frames.push(frame);
  const queue = new DrawQueue();
  let drawn = [];
  const board = (name, band) => ({ band, draw: () => drawn.push(name) });
  const again = board("c", 2);
  queue.add(again);
  queue.add(board("a", 0));
  queue.add(board("d", 2));
  queue.add(board("b", 1));
  const told = [];
  for (let now = 10; frames.length; now += 10) {
    frames.shift()(now);
    told.push(drawn.join(""));
    if (drawn.includes("a")) queue.add(again);
    drawn = [];
  }
  assert.deepEqual(told, ["a", "b", "cd", ""]);
  queue.add(again);
  queue.add(board("a", 0));
  frames.shift()(100);
  assert.deepEqual(drawn, ["a"], "after the last band comes the first");
});
