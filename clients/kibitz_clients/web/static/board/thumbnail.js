// A small board with few elements: all cells that look alike form one path, and so do all pieces
// that look alike. A page may have two hundred such boards, so they have no listeners, gradients or
// text. Shapes have absolute coordinates because the browser paints each transformed element
// separately.

import { Layout, outline } from "./geometry.js";
import { LookPaths } from "./look_paths.js";
import { emblemPath, look, ORIGIN } from "./shapes.js";
import { circlePath, hexagonPath, num, squarePath, svg } from "./svg.js";
import {
  CARDS, CROSSINGS, sceneryOf, shapeOf, stoneOf, themeOf, TILES, WOOD, words,
} from "./themes.js";

/** @typedef {import("../wire/messages.js").Stage} Stage */
/** @typedef {import("../wire/paint.js").Paint} Paint */
/** @typedef {import("../wire/messages.js").StageCell} Cell */
/** @typedef {import("./svg.js").Point} Point */
/** @typedef {import("./themes.js").Scenery} Scenery */

const TANK = `${squarePath(-11.5, 1, 3.5, 15)}${squarePath(11.5, 1, 3.5, 15)}` +
  `${squarePath(0, 1.5, 9, 13)}${squarePath(0, -15, 2.6, 5)}`;

export class Thumbnail {
  /** @param {SVGElement} root @param {Stage} stage */
  constructor(root, stage) {
    const layout = new Layout(stage, { labels: false });
    this.scenery = sceneryOf(stage, layout);
    const { x, y, width, height } = layout.box;
    root.setAttribute("viewBox", `${x} ${y} ${width} ${height}`);
    this.grounds = new LookPaths();
    this.pieces = new LookPaths();
    /**
     * Pieces that need their own element: numbers and rotated tanks.
     * @type {Map<string, SVGElement>}
     */
    this.single = new Map();
    this.crowd = svg("g");
    this.mark = svg("path", { class: "kb-thumb-mark" });
    const shown = [...layout.points.keys()];
    root.replaceChildren(...this.#backdrop(shown), this.grounds.group, this.pieces.group, this.crowd, this.mark);
    this.#cells(shown);
    this.#marks();
  }

  /** @param {string[]} shown @returns {Node[]} */
  #backdrop(shown) {
    const { stage, layout } = this.scenery;
    const own = (/** @type {unknown} */ theme) => shown
      .map((name) => /** @type {[string, Cell]} */ ([name, stage.cells[name]]))
      .filter(([, cell]) => themeOf(cell) === theme);
    const wood = own(WOOD);
    const crossings = own(CROSSINGS);
    const tiles = own(TILES);
    const made = [];
    if (wood.length) {
      const d = outline(layout, wood, (x, y) => `${num(x)} ${num(y)}`);
      made.push(svg("path", { d, class: "kb-rim" }), svg("path", { d, class: "kb-wood-flat" }));
    }
    if (crossings.length && CROSSINGS.backdrop) {
      made.push(...CROSSINGS.backdrop(this.scenery, crossings).slice(1, 3));
    }
    if (tiles.length && TILES.backdrop) made.push(...TILES.backdrop(this.scenery, tiles).slice(1));
    return /** @type {Node[]} */ (made.filter((node) => node !== null));
  }

  /**
   * Apply a paint that does not change the board as a whole (`rebuilds`).
   * @param {Stage} after
   * @param {Paint} paint
   */
  repaint(after, paint) {
    const changed = Object.keys(paint.cells ?? {});
    this.scenery = { ...this.scenery, stage: after };
    this.#cells(changed.filter((name) => this.scenery.layout.points.has(name)));
    if (paint.marks) this.#marks();
  }

  /** @param {Iterable<string>} names */
  #cells(names) {
    for (const name of names) {
      const cell = this.scenery.stage.cells[name];
      const ground = groundName(cell);
      this.grounds.set(name, ground, ground && this.#shape(name));
      this.#piece(name, cell);
    }
    this.grounds.write();
    this.pieces.write();
  }

  /** @param {string} name */
  #shape(name) {
    const cell = this.scenery.stage.cells[name];
    const at = /** @type {Point} */ (this.scenery.layout.points.get(name));
    if (themeOf(cell) === WOOD) return circlePath(at.x, at.y, 8.5);
    if (cell.kind === "rock") return hexagonPath(at.x, at.y, 17);
    if (cell.kind === "gone" && cell.glyph === "o") return circlePath(at.x, at.y, 9);
    if (cell.kind === "gone") return `M${num(at.x - 8)} ${num(at.y - 8)}l16 16m0 -16l-16 16`;
    return shapeOf(this.scenery, cell);
  }

  /** @param {string} name @param {Cell} cell */
  #piece(name, cell) {
    const at = /** @type {Point} */ (this.scenery.layout.points.get(name));
    const [look, shape] = pieceOf(this.scenery, cell, at) ?? ["", ""];
    this.pieces.set(name, look, shape);
    this.single.get(name)?.remove();
    this.single.delete(name);
    const drawn = singleOf(this.scenery, cell, at);
    if (drawn === null) return;
    this.single.set(name, drawn);
    this.crowd.append(drawn);
  }

  #marks() {
    const { stage, layout } = this.scenery;
    const parts = [];
    for (const mark of stage.marks) {
      if (mark.kind !== "to" && mark.kind !== "win") continue;
      for (const name of mark.cells) {
        if (layout.points.has(name)) parts.push(shapeOf(this.scenery, stage.cells[name], 2));
      }
    }
    this.mark.setAttribute("d", parts.join(""));
  }
}

/** Return the CSS classes of a cell's ground; empty if nothing is drawn. */
function groundName(/** @type {Cell} */ cell) {
  const theme = themeOf(cell);
  if (theme === WOOD) {
    if (cell.owner !== undefined) return "";
    return cell.tint === undefined ? "kb-thumb-hole" : `kb-thumb-hole kb-home-${look(cell.tint)}`;
  }
  if (theme === CROSSINGS) return "";
  const tint = cell.tint === undefined ? "" : look(cell.tint);
  if (theme === CARDS) return tint === "" ? "kb-card" : `kb-card kb-card-${tint}`;
  if (cell.kind === "rock") return "kb-boulder";
  if (cell.kind === "gone") return tint === "" ? "kb-cross" : `kb-cross kb-cross-${tint}`;
  return tint === "" ? `kb-tile kb-${cell.kind}` : `kb-tile kb-${cell.kind} kb-tint-${tint}`;
}

/**
 * Return whether a cell shows a tank with a known heading.
 * @param {Scenery} scenery
 * @param {Cell} cell
 */
function isTurned(scenery, cell) {
  return scenery.vehicles && cell.heading !== undefined && cell.owner !== undefined &&
    themeOf(cell) === TILES;
}

/**
 * Draw a piece that cannot be joined into a path: a number or a rotated tank.
 * @param {Scenery} scenery @param {Cell} cell @param {Point} at
 */
function singleOf(scenery, cell, at) {
  if (themeOf(cell) === CARDS) return words(at, cell.glyph ?? "", "kb-number");
  if (!isTurned(scenery, cell)) return null;
  const seat = /** @type {number} */ (cell.owner);
  return svg("path", {
    d: TANK + emblemPath(seat, ORIGIN, 6),
    transform: `translate(${num(at.x)} ${num(at.y)}) rotate(${cell.heading})`,
    class: `kb-thumb kb-seat-${look(seat)}`,
  });
}

/**
 * Return the look and the shape of a piece that can be joined into a path; its seat's emblem is cut
 * out.
 * @param {Scenery} scenery @param {Cell} cell @param {Point} at
 * @returns {[string, string] | null}
 */
function pieceOf(scenery, cell, at) {
  const theme = themeOf(cell);
  const seat = cell.owner;
  if (theme === CARDS || isTurned(scenery, cell)) return null;
  if (theme === CROSSINGS) {
    const kind = cell.colour ?? (seat === undefined ? null : stoneOf(scenery.stage, seat));
    if (kind === null) return null;
    const name = typeof kind === "number" ? `kb-seat-${look(kind)}` : `kb-thumb-${kind}`;
    return [`kb-thumb ${name}`, circlePath(at.x, at.y, 18.5)];
  }
  if (seat === undefined) return null;
  const turret = scenery.vehicles && theme === TILES;
  const shape = circlePath(at.x, at.y, turret ? 13 : 17) + emblemPath(seat, at, turret ? 6 : 8);
  return [`kb-thumb kb-seat-${look(seat)}`, shape];
}
