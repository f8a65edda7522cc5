// A full board as SVG, in layers from back to front. A paint redraws only the cells it names.

import { Layout } from "./geometry.js";
import { expected, marksAbove, marksBelow } from "./marks.js";
import { svg } from "./svg.js";
import { sceneryOf, themeOf, THEMES, words } from "./themes.js";

/** @typedef {import("../wire/messages.js").Stage} Stage */
/** @typedef {import("../wire/paint.js").Paint} Paint */
/** @typedef {import("../wire/messages.js").StageLabel} StageLabel */
/** @typedef {import("./svg.js").Point} Point */

const LAYERS = /** @type {const} */ ([
  "backdrop", "grounds", "labels", "below", "targets", "pieces", "above", "lines", "hits",
]);

/** @typedef {Record<(typeof LAYERS)[number], SVGElement>} Layers */

export class Drawing {
  /** @param {SVGElement} root @param {Stage} stage @param {boolean} buttons */
  constructor(root, stage, buttons) {
    this.root = root;
    this.buttons = buttons;
    this.layers = /** @type {Layers} */ (Object.fromEntries(
      LAYERS.map((name) => [name, svg("g", { class: `kb-${name}` })]),
    ));
    root.replaceChildren(...Object.values(this.layers));
    /** @type {Map<string, Node>} */
    this.grounds = new Map();
    /** @type {Map<string, SVGElement>} */
    this.pieces = new Map();
    this.#draw(stage);
  }

  get points() {
    return this.scenery.layout.points;
  }

  /** Draw a whole stage. @param {Stage} stage */
  #draw(stage) {
    const layout = new Layout(stage, { buttons: this.buttons });
    this.scenery = sceneryOf(stage, layout);
    const { x, y, width, height } = layout.box;
    this.root.setAttribute("viewBox", `${x} ${y} ${width} ${height}`);
    const shown = Object.entries(stage.cells).filter(([name]) => layout.points.has(name));
    for (const theme of THEMES) {
      const own = shown.filter(([, cell]) => themeOf(cell) === theme);
      if (own.length && theme.backdrop) {
        this.layers.backdrop.append(...present(theme.backdrop(this.scenery, own)));
      }
    }
    for (const [name] of shown) this.#cell(name);
    this.#labels();
    this.#marks();
  }

  /**
   * Apply a paint that does not change the board as a whole (`rebuilds`).
   * @param {Stage} after
   * @param {Paint} paint
   */
  repaint(after, paint) {
    const changed = Object.keys(paint.cells ?? {});
    this.scenery = { ...this.scenery, stage: after };
    for (const name of changed) if (this.points.has(name)) this.#cell(name);
    if (paint.labels) this.#labels();
    if (paint.marks || changed.length) this.#marks();
  }

  /** Redraw a cell. @param {string} name */
  #cell(name) {
    const cell = this.scenery.stage.cells[name];
    const at = /** @type {Point} */ (this.points.get(name));
    const theme = themeOf(cell);
    const ground = theme.ground(this.scenery, cell, at);
    swap(this.layers.grounds, this.grounds, name, ground);
    swap(this.layers.pieces, this.pieces, name, theme.piece(this.scenery, cell, at));
  }

  #labels() {
    const { stage, layout } = this.scenery;
    const onPlank = Object.values(stage.cells).some((cell) => cell.kind === "point");
    const name = onPlank ? "kb-label kb-label-on-plank" : "kb-label";
    this.layers.labels.replaceChildren(
      ...stage.labels.map((/** @type {StageLabel} */ label) => words(layout.labelPoint(label), label.text, name)),
    );
  }

  #marks() {
    this.layers.below.replaceChildren(...marksBelow(this.scenery));
    this.layers.above.replaceChildren(...marksAbove(this.scenery));
  }

  /** Draw the moves that bots expect. @param {readonly import("./marks.js").Line[]} lines */
  expect(lines) {
    this.layers.lines.replaceChildren(...expected(this.scenery, lines));
  }
}

/** @param {(Node | null)[]} nodes @returns {Node[]} */
function present(nodes) {
  return /** @type {Node[]} */ (nodes.filter((node) => node !== null));
}

/**
 * Replace the drawing with the same name.
 * @template {Node} T
 * @param {SVGElement} layer
 * @param {Map<string, T>} known
 * @param {string} name
 * @param {Node | null} drawn
 */
function swap(layer, known, name, drawn) {
  const former = known.get(name);
  if (former && drawn) layer.replaceChild(drawn, former);
  else if (former) layer.removeChild(former);
  else if (drawn) layer.append(drawn);
  if (drawn) known.set(name, /** @type {T} */ (drawn));
  else known.delete(name);
}
