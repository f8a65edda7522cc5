// Cells that look alike, joined into one SVG path per look: fewer elements to lay out and paint.

import { svg } from "./svg.js";

export class LookPaths {
  /** The shapes of each look, by cell. @type {Map<string, Map<string, string>>} */
  #shapes = new Map();
  /** @type {Map<string, SVGElement>} */
  #paths = new Map();
  /** The look of each cell. @type {Map<string, string>} */
  #lookOf = new Map();
  /** Looks whose path must be rewritten. @type {Set<string>} */
  #stale = new Set();

  constructor() {
    this.group = svg("g");
  }

  /**
   * Set the shape of a cell; `write` then updates the drawing.
   * @param {string} cell
   * @param {string} look classes of the path; empty if the cell has no shape
   * @param {string} shape the part of the path for this cell
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

  /** Update the paths that have changed. */
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
