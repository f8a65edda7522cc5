// Shapes of cells, joined into one path for each way to look: a path is an element to lay out and
// paint, and of what looks alike there is much on a board.

import { svg } from "./svg.js";

export class LookPaths {
  /** The shapes that look alike, by cell. @type {Map<string, Map<string, string>>} */
  #shapes = new Map();
  /** @type {Map<string, SVGElement>} */
  #paths = new Map();
  /** How each cell looks. @type {Map<string, string>} */
  #lookOf = new Map();
  /** Looks whose path is to be written anew. @type {Set<string>} */
  #stale = new Set();

  constructor() {
    this.group = svg("g");
  }

  /**
   * Give a cell its shape; `write` shows it.
   * @param {string} cell
   * @param {string} look classes of the path, empty where the cell has no shape
   * @param {string} shape what it adds to the path
   */
  set(cell, look, shape) {
    const former = this.#lookOf.get(cell);
    if (former !== undefined && former !== look) {
      this.#shapes.get(former)?.delete(cell);
      this.#stale.add(former);
      this.#lookOf.delete(cell);
    }
    if (look === "" || this.#shapes.get(look)?.get(cell) === shape) return;
    const shapes = this.#shapes.get(look) ?? new Map();
    this.#shapes.set(look, shapes.set(cell, shape));
    this.#lookOf.set(cell, look);
    this.#stale.add(look);
  }

  /** Write the paths that have changed. */
  write() {
    for (const look of this.#stale) {
      const shapes = this.#shapes.get(look) ?? new Map();
      this.#path(look).setAttribute("d", [...shapes.values()].join(""));
    }
    this.#stale.clear();
  }

  /** @param {string} look */
  #path(look) {
    const known = this.#paths.get(look);
    if (known) return known;
    const made = svg("path", { class: look });
    this.#paths.set(look, made);
    this.group.append(made);
    return made;
  }
}
