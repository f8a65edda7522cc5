// Reads stages and paints as JSON lines, applies them, and compares the results with their digests.

import { createHash } from "node:crypto";
import { createInterface } from "node:readline";

const { apply } = await import(`${process.env.KIBITZ_STATIC}/wire/merge_patch.js`);

function ordered(value) {
  if (Array.isArray(value)) return value.map(ordered);
  if (value === null || typeof value !== "object") return value;
  const names = Object.keys(value).sort();
  return new Map(names.map((name) => [name, ordered(value[name])]));
}

function written(value) {
  if (value instanceof Map) {
    return `{${[...value].map(([name, each]) => `${JSON.stringify(name)}:${written(each)}`).join(",")}}`;
  }
  return Array.isArray(value) ? `[${value.map(written).join(",")}]` : JSON.stringify(value);
}

let stage;
let paints = 0;
for await (const line of createInterface({ input: process.stdin })) {
  const given = JSON.parse(line);
  if (given.stage) {
    stage = given.stage;
    continue;
  }
  const before = written(ordered(stage));
  const next = apply(stage, given.paint);
  if (written(ordered(stage)) !== before) throw new Error("the stage before was changed");
  stage = next;
  paints += 1;
  const digest = createHash("sha256").update(written(ordered(stage))).digest("hex");
  if (digest !== given.digest) throw new Error(`paint ${paints} makes another stage`);
}
console.log(`${paints} paints`);
