import assert from "node:assert/strict";
import { test } from "node:test";
import { use } from "./use.mjs";

const { match } = await use("router.js");

test("paths and their pages", () => {
  assert.deepEqual(match("/"), { page: "hall", params: {} });
  assert.deepEqual(match("/lobby/L7"), { page: "lobby", params: { code: "L7" } });
  assert.deepEqual(match("/match/a-1_b"), { page: "match", params: { id: "a-1_b" } });
  assert.deepEqual(match("/rules/line-nim"), { page: "rules", params: { game: "line-nim" } });
  assert.equal(match("/sign-in").page, "sign_in");
  for (const path of ["/lobby/", "/lobby/a/b", "/match/<b>", "/nowhere", "//", "/wall/"]) {
    assert.equal(match(path), null, path);
  }
});
