import assert from "node:assert/strict";
import { test } from "node:test";
import { use } from "./use.mjs";

globalThis.document = { activeElement: null };
const { KeyedList } = await use("parts/keyed.js");

/** The part of an element that a list needs. */
class FakeElement {
  children = [];
  parent = null;

  constructor(text = "") {
    this.text = text;
  }

  get firstElementChild() {
    return this.children[0] ?? null;
  }

  get nextElementSibling() {
    const { children } = this.parent;
    return children[children.indexOf(this) + 1] ?? null;
  }

  insertBefore(element, next) {
    element.remove();
    const at = next === null ? this.children.length : this.children.indexOf(next);
    if (at < 0) throw new Error("the node before which to insert is not a child of this node");
    this.children.splice(at, 0, element);
    element.parent = this;
  }

  remove() {
    if (this.parent) this.parent.children = this.parent.children.filter((each) => each !== this);
    this.parent = null;
  }

  replaceWith(other) {
    const { parent } = this;
    parent.children[parent.children.indexOf(this)] = other;
    other.parent = parent;
    this.parent = null;
  }

  querySelectorAll() {
    return [];
  }
}

function shown(list) {
  return list.children.map((each) => each.text).join(" ");
}

test("whatever changes, the list shows its items in order", () => {
  const list = new FakeElement();
  const keyed = new KeyedList(list, (item) => item[0], (item) => new FakeElement(item));
  let state = 1;
  const random = (most) => {
    state = (state * 48271) % 2147483647;
    return state % most;
  };
  for (let round = 0; round < 2_000; round++) {
    const names = [..."abcdef"].filter(() => random(3)).sort(() => random(3) - 1);
    const items = names.map((name) => `${name}${random(2)}`);
    keyed.show(items);
    assert.equal(shown(list), items.join(" "));
  }
});

test("lines stay the same elements, or show their item anew themselves", () => {
  const list = new FakeElement();
  const keyed = new KeyedList(list, (item) => item.key, (item) =>
    Object.assign(new FakeElement(item.text), { update(news) { this.text = news.text; } }));
  keyed.show([{ key: 1, text: "a" }, { key: 2, text: "b" }]);
  const [first, second] = list.children;
  keyed.show([{ key: 2, text: "c" }, { key: 1, text: "a" }]);
  assert.deepEqual(list.children, [second, first]);
  assert.equal(shown(list), "c a");
});
