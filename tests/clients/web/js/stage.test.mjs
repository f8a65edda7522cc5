import assert from "node:assert/strict";
import { test } from "node:test";
import { use } from "./use.mjs";

const { apply } = await use("wire/stage.js");
const STAGE = {
  lattice: "square",
  cells: { a1: { x: 0, y: 0, kind: "point" }, b1: { x: 1, y: 0, kind: "point", owner: 0 } },
  labels: [], marks: [{ kind: "to", cells: ["b1"] }], text: ["one"], colours: [],
};

test("a paint changes what it names and nothing else", () => {
  const next = apply(STAGE, { cells: { a1: { x: 0, y: 0, kind: "point", owner: 1 } }, gone: ["b1"], text: [] });
  assert.deepEqual(Object.keys(next.cells), ["a1"]);
  assert.equal(next.cells.a1.owner, 1);
  assert.deepEqual(next.text, []);
  assert.equal(next.marks, STAGE.marks);
  assert.equal(STAGE.cells.b1.owner, 0);
});

test("a cell that is gone and there again is there", () => {
  const next = apply(STAGE, { gone: ["b1"], cells: { b1: { x: 2, y: 0, kind: "hole" } } });
  assert.equal(next.cells.b1.x, 2);
});

test("an empty paint shares the cells", () => {
  assert.equal(apply(STAGE, {}).cells, STAGE.cells);
});
