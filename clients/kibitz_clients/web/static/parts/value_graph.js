// The bots' evaluations as curves over the plies of a match. Each bot uses its own unit, so each
// curve is scaled by its own median. With two players the second curve is inverted, so that both
// rise when the first player is better.

import { emblemPath, look } from "../board/shapes.js";
import { num, svg } from "../board/svg.js";
import { isProved } from "./move_text.js";

/** @typedef {import("./course.js").Course} Course */
/** @typedef {{ply: number, index: number, value: number}} Value */
/** @typedef {{seat: number, values: Value[]}} Curve */

const WIDTH = 600;
const HEIGHT = 120;
const MARGIN = 8;

/**
 * Return the bots' values by seat, without seats that have none.
 * @param {Course} course
 * @param {number} seats
 * @returns {Curve[]}
 */
export function curvesOf(course, seats) {
  const curves = Array.from({ length: seats }, (_, seat) => ({ seat, values: /** @type {Value[]} */ ([]) }));
  const before = course.analysis ? 1 : 0; // the values of an analysis are those before the move
  for (const [i, { entry, ply }] of course.steps.entries()) {
    const value = entry.comment?.value;
    if (entry.kind !== "move" || typeof value !== "number" || !Number.isFinite(value)) continue;
    curves[entry.seat ?? 0]?.values.push({ ply: ply - before, index: i + 1 - before, value });
  }
  return curves.filter((curve) => curve.values.length > 0);
}

/** Return the value drawn halfway to the edge: the median. */
export function scaleOf(/** @type {readonly Value[]} */ values) {
  const sizes = values.map(({ value }) => Math.abs(value)).filter((size) => size > 0 && !isProved(size));
  sizes.sort((a, b) => a - b);
  return sizes[Math.floor(sizes.length / 2)] ?? 1;
}

/**
 * Return the height of a value in the graph, from -1 at the bottom to 1 at the top. Outliers are
 * compressed near the edge; only proven wins and losses reach it.
 * @param {number} value
 * @param {number} scale
 * @param {boolean} turned
 */
export function height(value, scale, turned) {
  const share = isProved(value) ? Math.sign(value) : value / (Math.abs(value) + scale);
  return turned ? -share : share;
}

export class ValueGraph {
  /** @param {(index: number) => void} go is called with the chosen index */
  constructor(go) {
    this.curves = svg("g");
    this.cursor = svg("line", { y1: 0, y2: HEIGHT, class: "vg-cursor" });
    this.root = svg(
      "svg",
      { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, class: "value-graph", role: "img", preserveAspectRatio: "none" },
      svg("line", { x1: 0, x2: WIDTH, y1: HEIGHT / 2, y2: HEIGHT / 2, class: "vg-middle" }),
      this.curves, this.cursor,
    );
    this.plies = 1;
    /** @type {Curve[]} */
    this.known = [];
    this.root.addEventListener("click", (event) => {
      const { left, width } = this.root.getBoundingClientRect();
      const x = ((/** @type {MouseEvent} */ (event).clientX - left) / width) * WIDTH;
      const index = this.#nearest(x);
      if (index !== null) go(index);
    });
  }

  /**
   * Draw all curves; return whether there are any.
   * @param {Course} course
   * @param {string[]} names
   */
  draw(course, names) {
    this.known = curvesOf(course, names.length);
    this.plies = Math.max(1, course.plyAt(course.length));
    const turned = names.length === 2 ? 1 : -1;
    this.curves.replaceChildren(
      ...(course.analysis?.swings ?? []).map(({ ply }) => this.#swing(ply)),
      ...this.known.flatMap((curve) => this.#curve(curve, curve.seat === turned)));
    const whose = course.analysis?.by ?? this.known.map(({ seat }) => names[seat]).join(" and ");
    this.root.setAttribute("aria-label", `Evaluations by ${whose}, by ply`);
    return this.known.length > 0;
  }

  /** @param {number} ply */
  show(ply) {
    const x = num(this.#x(ply));
    this.cursor.setAttribute("x1", x);
    this.cursor.setAttribute("x2", x);
  }

  /** @param {Curve} curve @param {boolean} turned @returns {SVGElement[]} */
  #curve({ seat, values }, turned) {
    const scale = scaleOf(values);
    const points = values.map(({ ply, value }) => ({
      x: this.#x(ply), y: HEIGHT / 2 - height(value, scale, turned) * (HEIGHT / 2 - MARGIN),
    }));
    const d = `M${points.map(({ x, y }) => `${num(x)} ${num(y)}`).join("L")}`;
    const every = Math.max(1, Math.ceil(points.length / 12));
    const marks = points.filter((_, i) => i % every === 0).map((at) => emblemPath(seat, at, 5));
    return [
      svg("path", { d, class: `vg-curve vg-seat-${look(seat)}` }),
      svg("path", { d: marks.join(""), class: `vg-mark vg-seat-${look(seat)}` }),
    ];
  }

  /** A move that lost much. @param {number} ply */
  #swing(ply) {
    const x = num(this.#x(ply));
    return svg("line", { x1: x, x2: x, y1: 0, y2: HEIGHT, class: "vg-swing" });
  }

  /** @param {number} ply */
  #x(ply) {
    return MARGIN + (ply / this.plies) * (WIDTH - 2 * MARGIN);
  }

  /** @param {number} x */
  #nearest(x) {
    let best = null;
    let least = Infinity;
    for (const { ply, index } of this.known.flatMap((curve) => curve.values)) {
      const distance = Math.abs(this.#x(ply) - x);
      if (distance < least) [best, least] = [index, distance];
    }
    return best;
  }
}
