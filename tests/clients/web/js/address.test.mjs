import assert from "node:assert/strict";
import { test } from "node:test";
import { use } from "./use.mjs";

const { at, link, pathAt, rootOf, serverAddress, websocketAddress } = await use("parts/address.js");

const root = (before) => rootOf(`${before}static/0123456789abcdef/parts/address.js`);

test("the address of a module tells where the server's pages are", () => {
  for (const before of ["http://127.0.0.1:8765/", "https://example.org/kibitz/", "https://a.org/b/c/"]) {
    assert.equal(root(before).href, before);
  }
});

test("paths of the application and where they are", () => {
  for (const [before, prefix] of [["http://here/", ""], ["https://here/kibitz/", "/kibitz"]]) {
    for (const path of ["/", "/host", "/match/m1", "/host?game=line-nim"]) {
      assert.equal(at(path, root(before)), `${prefix}${path}`);
      assert.equal(pathAt(`${prefix}${path}`, root(before)), path);
      assert.equal(link(path, root(before)), before.replace(/\/$/, "") + path);
    }
  }
});

test("what is not below the root is no path of the application", () => {
  for (const place of ["/", "/host", "/kibitz", "/kibitzer/host"]) {
    assert.equal(pathAt(place, root("https://here/kibitz/")), "", place);
  }
});

test("the server and its websocket", () => {
  const plain = root("http://127.0.0.1:8765/");
  assert.equal(serverAddress(plain), "ws://127.0.0.1:8765");
  assert.equal(websocketAddress(plain), "ws://127.0.0.1:8765/ws");
  const below = root("https://example.org/kibitz/");
  assert.equal(serverAddress(below), "wss://example.org/kibitz/");
  assert.equal(websocketAddress(below), "wss://example.org/kibitz/ws");
});
