import assert from "node:assert/strict";
import { test } from "node:test";
import { use } from "./use.mjs";

const { cellsNamed, Layout, nearest, neighbour, outline } = await use("board/geometry.js");
const { actionText, cellless, completed, nextCells, pressed } = await use("board/picks.js");
const { motions } = await use("board/motion.js");
const { describe, named } = await use("board/describe.js");
const { rebuilds, stoneOf } = await use("board/themes.js");

const hexagons = {
  lattice: "hex", labels: [], marks: [], text: [], colours: [],
  cells: {
    a: { x: 1, y: 0, kind: "hole" }, b: { x: 0, y: 1, kind: "hole" }, c: { x: 2, y: 1, kind: "hole" },
    d: { x: 1, y: 2, kind: "hole", owner: 1 },
  },
};
const columns = {
  lattice: "square", marks: [], text: [], colours: [],
  labels: [{ text: "1", x: -1, y: 0 }],
  cells: {
    drop: { x: 0, y: -1, kind: "button", glyph: "a" }, far: { x: 9, y: 0, kind: "button", glyph: "*" },
    a1: { x: 0, y: 0, kind: "hole" }, b1: { x: 1, y: 0, kind: "hole" },
    a2: { x: 0, y: 1, kind: "hole" }, b2: { x: 1, y: 1, kind: "hole" },
  },
};

test("neighbours of a hexagonal lattice are equally far from each other", () => {
  const { points } = new Layout(hexagons);
  const distance = (one, other) => Math.hypot(
    points.get(one).x - points.get(other).x, points.get(one).y - points.get(other).y);
  assert.ok(Math.abs(distance("b", "c") - 44) < 1e-9);
  assert.ok(Math.abs(distance("a", "b") - 44) < 1e-9);
  assert.ok(Math.abs(distance("c", "d") - 44) < 1e-9);
});

test("buttons have a place on the board only where they are in one of its columns", () => {
  assert.deepEqual([...new Layout(columns).points.keys()], ["a1", "b1", "a2", "b2"]);
  assert.deepEqual([...new Layout(columns, { buttons: true }).points.keys()].sort(),
    ["a1", "a2", "b1", "b2", "drop"]);
});

test("there is room for labels on their side only, and few cells are not blown up", () => {
  const { edges, box } = new Layout(columns);
  assert.ok(edges.left > edges.right);
  assert.equal(edges.top, edges.bottom);
  assert.equal(box.width, 380);
  assert.equal(new Layout(columns, { labels: false }).edges.left, edges.right);
});

test("an empty stage has a layout", () => {
  const { box, points } = new Layout({ ...columns, cells: {} });
  assert.equal(points.size, 0);
  assert.ok(Number.isFinite(box.x) && box.width > 0);
});

test("arrow keys lead to the neighbour in their direction, and nowhere at the rim", () => {
  const { points } = new Layout(hexagons);
  assert.equal(neighbour(points, "b", "right"), "c");
  assert.equal(neighbour(points, "c", "left"), "b");
  assert.ok(["b", "c"].includes(neighbour(points, "a", "down")));
  assert.ok(["b", "c"].includes(neighbour(points, "d", "up")));
  assert.equal(neighbour(points, "a", "up"), null);
  assert.equal(neighbour(points, "gone", "up"), null);
});

test("every cell can be reached from every other one by arrow keys", () => {
  const cells = {};
  for (let y = 0; y < 17; y += 1) {
    for (let x = y % 2; x < 20; x += 2) cells[`${x}-${y}`] = { x, y, kind: "hole" };
  }
  const { points } = new Layout({ ...hexagons, cells });
  const reached = new Set(["0-0"]);
  for (const name of reached) {
    for (const direction of ["left", "right", "up", "down"]) {
      const next = neighbour(points, name, direction);
      if (next) reached.add(next);
    }
  }
  assert.equal(reached.size, points.size);
});

test("what lies at a point is the nearest cell, within reach", () => {
  const { points } = new Layout(columns);
  assert.equal(nearest(points, { x: 40, y: 3 }), "b1");
  assert.equal(nearest(points, { x: 400, y: 0 }, 30), null);
});

test("the outline of a board joins neighbours, and shows a cell that has none", () => {
  const write = (x, y) => `${Math.round(x)} ${Math.round(y)}`;
  const layout = new Layout(hexagons);
  assert.match(outline(layout, Object.entries(hexagons.cells), write), /^M.*L.*L.*Z/);
  const alone = { far: { x: 30, y: 0, kind: "hole" } };
  assert.match(outline(layout, Object.entries(alone), write), /h0\.01$/);
});

test("moves in words name cells", () => {
  const cells = { c3: 0, d4: 0, "1,12": 0, "turn-left": 0, 7: 0 };
  assert.deepEqual(cellsNamed("c3-d4", cells), ["c3", "d4"]);
  assert.deepEqual(cellsNamed("c3 x d9", cells), ["c3"]);
  assert.deepEqual(cellsNamed("turn-left", cells), ["turn-left"]);
  assert.deepEqual(cellsNamed("at 1,12", cells), ["1,12"]);
  assert.deepEqual(cellsNamed("constructor toString", cells), []);
});

const picks = [
  { cells: ["a", "b"], action: { to: 1 } }, { cells: ["a", "c", "b"], action: { to: 2 } },
  { cells: ["d", "d"], action: { to: 3 } },
];

test("cells are picked one after the other", () => {
  assert.deepEqual([...nextCells(picks, [])], ["a", "d"]);
  assert.deepEqual([...nextCells(picks, ["a"])], ["b", "c"]);
  assert.deepEqual([...nextCells(picks, ["b"])], []);
  assert.equal(completed(picks, ["a"]), null);
  assert.equal(completed(picks, ["a", "c", "b"]).action.to, 2);
});

test("a press goes on, begins anew, takes back, or leaves all as it is", () => {
  assert.deepEqual(pressed(picks, ["a"], "c"), ["a", "c"]);
  assert.deepEqual(pressed(picks, ["a"], "d"), ["d"]);
  assert.deepEqual(pressed(picks, ["a"], "a"), []);
  assert.deepEqual(pressed(picks, ["a"], "x"), ["a"]);
  assert.deepEqual(pressed(picks, ["d"], "d"), ["d", "d"]);
});

test("an action without cells is a button with the action's words", () => {
  const pass = { cells: [], action: { from: null, pass: true } };
  assert.deepEqual(cellless([...picks, pass]), [pass]);
  assert.equal(completed([pass], []), null);
  assert.equal(actionText(pass.action), "pass");
  assert.equal(actionText({ action: "fire" }), "fire");
  assert.equal(actionText({}), "play");
});

const before = {
  a: { x: 0, y: 0, kind: "hole", owner: 0 }, b: { x: 1, y: 0, kind: "hole" }, c: { x: 2, y: 0, kind: "hole" },
};
const stage = (cells) => ({ ...columns, cells });
const applied = (paint) => motions(stage(before), stage({ ...before, ...paint.cells }), paint);

test("a piece moves along the way that the paint marks", () => {
  const cells = { a: { x: 0, y: 0, kind: "hole" }, c: { x: 2, y: 0, kind: "hole", owner: 0 } };
  const marks = [{ kind: "path", cells: ["a", "b", "c"] }];
  assert.deepEqual(applied({ cells, marks }), [{ kind: "way", cell: "c", way: ["a", "b", "c"] }]);
  assert.deepEqual(applied({ cells }), [{ kind: "way", cell: "c", way: ["a", "c"] }]);
});

test("a piece that came from nowhere appears; one that changed hands too", () => {
  assert.deepEqual(applied({ cells: { b: { x: 1, y: 0, kind: "hole", owner: 1 } } }), [{ kind: "new", cell: "b" }]);
  assert.deepEqual(applied({ cells: { a: { x: 0, y: 0, kind: "hole", owner: 1 } } }), [{ kind: "new", cell: "a" }]);
  assert.deepEqual(applied({ marks: [] }), []);
});

test("a way that does not begin where the piece was is no motion along it", () => {
  const cells = { c: { x: 2, y: 0, kind: "hole", owner: 0 } };
  assert.deepEqual(applied({ cells, marks: [{ kind: "path", cells: ["b", "c"] }] }), [{ kind: "new", cell: "c" }]);
});

test("cells in words", () => {
  assert.equal(describe("e4", { kind: "point", owner: 1, colour: "black" }, ["ada", "ben"]), "e4: ben, black");
  assert.equal(describe("e4", { kind: "point" }, []), "e4: empty");
  assert.equal(describe("3", { kind: "number", glyph: "12" }, []), "3: number 12");
  assert.equal(describe("1,2", { kind: "floor", owner: 0, heading: 270 }, []), "1,2: seat 1, facing left");
  assert.equal(describe("turn-left", { kind: "button" }, []), "turn left");
  assert.equal(named("seat 2: 3, seat 9, seat 12", ["ada", "ben"]), "ben: 3, seat 9, seat 12");
});

test("what changes the whole board, and what a single cell", () => {
  const hole = { x: 0, y: 0, kind: "hole" };
  const one = { ...columns, cells: { a: hole } };
  const scenery = { stage: one, layout: null, vehicles: false };
  const changes = (/** @type {object} */ change, cell = hole) => {
    const paint = { cells: { a: { ...cell, ...change } } };
    const stage = { ...one, cells: { a: cell } };
    return rebuilds({ ...scenery, stage }, { ...one, ...paint }, paint);
  };
  assert.equal(changes({ owner: 1 }), false);
  assert.equal(changes({ tint: 1 }), true);
  assert.equal(changes({ kind: "floor", tint: 2 }, { ...hole, kind: "fog" }), false);
  assert.equal(changes({ x: 1 }), true);
  assert.equal(changes({ kind: "wreck" }, { ...hole, kind: "floor" }), true);
  assert.equal(rebuilds(scenery, one, { colours: ["white"] }), true);
  assert.equal(rebuilds(scenery, { ...one, cells: { a: hole, b: hole } }, { cells: { b: hole } }), true);
  assert.equal(stoneOf({ ...columns, colours: ["white", "black"] }, 0), "white");
  assert.equal(stoneOf(columns, 3), 3);
});
