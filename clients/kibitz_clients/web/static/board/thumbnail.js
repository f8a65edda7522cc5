// A small board with few elements: one path for all grounds that look alike, and one for each
// piece. Two hundred of them are drawn at once, so nothing here listens, shines or is written.

import { Layout, outline } from "./geometry.js";
import { emblemPath, look } from "./shapes.js";
import { circlePath, hexagonPath, num, squarePath, svg } from "./svg.js";
import { hasVehicles, movesGround, sceneryOf, shapeOf, stoneOf, themeOf, THEMES, words } from "./themes.js";

/** @typedef {import("../wire/messages.js").Stage} Stage */
/** @typedef {import("../wire/messages.js").Paint} Paint */
/** @typedef {import("../wire/messages.js").StageCell} Cell */
/** @typedef {import("./svg.js").Point} Point */

const [WOOD, CROSSINGS, CARDS, TILES] = THEMES;
const ORIGIN = { x: 0, y: 0 };
const TANK = `${squarePath(-11.5, 1, 3.5, 15)}${squarePath(11.5, 1, 3.5, 15)}` +
  `${squarePath(0, 1.5, 9, 13)}${squarePath(0, -15, 2.6, 5)}`;

export class Thumbnail {
  /** @param {SVGElement} root @param {Stage} stage */
  constructor(root, stage) {
    const layout = new Layout(stage, { labels: false });
    this.scenery = sceneryOf(stage, layout);
    const { x, y, width, height } = layout.box;
    root.setAttribute("viewBox", `${x} ${y} ${width} ${height}`);
    /** The cells of each ground. @type {Map<string, Set<string>>} */
    this.members = new Map();
    /** The path of each ground. @type {Map<string, SVGElement>} */
    this.paths = new Map();
    /** @type {Map<string, string>} */
    this.groundOf = new Map();
    /** @type {Map<string, SVGElement>} */
    this.pieces = new Map();
    this.grounds = svg("g");
    this.crowd = svg("g");
    this.mark = svg("path", { class: "kb-thumb-mark" });
    const shown = [...layout.points.keys()];
    root.replaceChildren(...this.#backdrop(shown), this.grounds, this.crowd, this.mark);
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
   * Show what a paint has made of the stage; false where all has to be drawn anew.
   * @param {Stage} before
   * @param {Stage} after
   * @param {Paint} paint
   */
  repaint(before, after, paint) {
    const changed = Object.keys(paint.cells ?? {});
    const anew = (paint.gone?.length ?? 0) > 0 || paint.colours !== undefined ||
      changed.some((name) => {
        const former = before.cells[name];
        return former === undefined || movesGround(former, after.cells[name]);
      });
    if (anew || hasVehicles(Object.values(after.cells)) !== this.scenery.vehicles) return false;
    this.scenery = { ...this.scenery, stage: after };
    this.#cells(changed.filter((name) => this.scenery.layout.points.has(name)));
    if (paint.marks) this.#marks();
    return true;
  }

  /** @param {Iterable<string>} names */
  #cells(names) {
    const stale = new Set();
    for (const name of names) {
      const cell = this.scenery.stage.cells[name];
      const ground = groundName(cell);
      const former = this.groundOf.get(name);
      if (former !== ground) {
        if (former !== undefined) {
          this.members.get(former)?.delete(name);
          stale.add(former);
        }
        this.groundOf.set(name, ground);
        if (!this.members.has(ground)) this.members.set(ground, new Set());
        this.members.get(ground)?.add(name);
        stale.add(ground);
      }
      this.#piece(name, cell);
    }
    for (const ground of stale) this.#ground(ground);
  }

  /** Draw all the cells of one ground. @param {string} ground */
  #ground(ground) {
    if (ground === "") return;
    let path = this.paths.get(ground);
    if (!path) {
      path = svg("path", { class: ground });
      this.paths.set(ground, path);
      this.grounds.append(path);
    }
    const d = [...(this.members.get(ground) ?? [])].map((name) => this.#shape(name));
    path.setAttribute("d", d.join(""));
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
    this.pieces.get(name)?.remove();
    this.pieces.delete(name);
    const at = /** @type {Point} */ (this.scenery.layout.points.get(name));
    const drawn = themeOf(cell) === CARDS
      ? words(at, cell.glyph ?? "", "kb-number") : pieceOf(this.scenery, cell, at);
    if (drawn === null) return;
    this.pieces.set(name, drawn);
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

/** What the ground of a cell looks like, as names of classes; empty where nothing is drawn. */
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

/** One path: the piece with the emblem of its seat cut out. */
function pieceOf(
  /** @type {import("./themes.js").Scenery} */ scenery,
  /** @type {Cell} */ cell,
  /** @type {Point} */ at,
) {
  const move = `translate(${num(at.x)} ${num(at.y)})`;
  const seat = cell.owner;
  if (scenery.vehicles && seat !== undefined && themeOf(cell) === TILES) {
    const d = cell.heading === undefined ? circlePath(0, 0, 13) : TANK;
    const transform = cell.heading ? `${move} rotate(${cell.heading})` : move;
    return svg("path", {
      d: d + emblemPath(seat, ORIGIN, 6), transform, class: `kb-thumb kb-seat-${look(seat)}`,
    });
  }
  if (themeOf(cell) === CROSSINGS) {
    const kind = cell.colour ?? (seat === undefined ? null : stoneOf(scenery.stage, seat));
    if (kind === null) return null;
    const name = typeof kind === "number" ? `kb-seat-${look(kind)}` : `kb-thumb-${kind}`;
    return svg("path", { d: circlePath(0, 0, 18.5), transform: move, class: `kb-thumb ${name}` });
  }
  if (seat === undefined) return null;
  return svg("path", {
    d: circlePath(0, 0, 17) + emblemPath(seat, ORIGIN, 8), transform: move,
    class: `kb-thumb kb-seat-${look(seat)}`,
  });
}
