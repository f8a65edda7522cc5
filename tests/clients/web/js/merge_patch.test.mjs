import assert from "node:assert/strict";
import { test } from "node:test";
import { use } from "./use.mjs";

const { apply } = await use("wire/merge_patch.js");
const STAGE = {
  lattice: "square",
  cells: { a1: { x: 0, y: 0, kind: "point" }, b1: { x: 1, y: 0, kind: "point", owner: 0 } },
  labels: [], marks: [{ kind: "to", cells: ["b1"] }], text: ["one"], colours: [],
};

// Appendix A of the RFC: original, patch, result.
const EXAMPLES = [
  [{ a: "b" }, { a: "c" }, { a: "c" }],
  [{ a: "b" }, { b: "c" }, { a: "b", b: "c" }],
  [{ a: "b" }, { a: null }, {}],
  [{ a: "b", b: "c" }, { a: null }, { b: "c" }],
  [{ a: ["b"] }, { a: "c" }, { a: "c" }],
  [{ a: "c" }, { a: ["b"] }, { a: ["b"] }],
  [{ a: { b: "c" } }, { a: { b: "d", c: null } }, { a: { b: "d" } }],
  [{ a: [{ b: "c" }] }, { a: [1] }, { a: [1] }],
  [["a", "b"], ["c", "d"], ["c", "d"]],
  [{ a: "b" }, ["c"], ["c"]],
  [{ a: "foo" }, null, null],
  [{ a: "foo" }, "bar", "bar"],
  [{ e: null }, { a: 1 }, { e: null, a: 1 }],
  [[1, 2], { a: "b", c: null }, { a: "b" }],
  [{}, { a: { bb: { ccc: null } } }, { a: { bb: {} } }],
];

test("the examples of the RFC", () => {
  for (const [original, patch, result] of EXAMPLES) {
    const before = JSON.stringify(original);
    assert.deepEqual(apply(original, patch), result);
    assert.equal(JSON.stringify(original), before);
  }
});

test("a paint changes what it names and nothing else", () => {
  const next = apply(STAGE, { cells: { a1: { owner: 1 }, b1: null }, text: [] });
  assert.deepEqual(Object.keys(next.cells), ["a1"]);
  assert.deepEqual(next.cells.a1, { x: 0, y: 0, kind: "point", owner: 1 });
  assert.deepEqual(next.text, []);
  assert.equal(next.marks, STAGE.marks);
  assert.equal(STAGE.cells.b1.owner, 0);
});

test("an empty paint shares the cells", () => {
  assert.equal(apply(STAGE, {}).cells, STAGE.cells);
  assert.equal(apply(STAGE, { cells: { a1: { owner: 1 } } }).cells.b1, STAGE.cells.b1);
});
