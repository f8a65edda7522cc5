// Highlights of a board: the last move, a piece's path, a winning line, visible cells, and the
// lines that bots expect.

import { look } from "./shapes.js";
import { circlePath, num, polar, polygonPath, svg } from "./svg.js";
import { CROSSINGS, shapeOf, themeOf, TILES, WOOD } from "./themes.js";

/** @typedef {import("../wire/messages.js").StageMark} Mark */
/** @typedef {import("../wire/messages.js").StageCell} Cell */
/** @typedef {import("./themes.js").Scenery} Scenery */
/** @typedef {import("./svg.js").Point} Point */
/** @typedef {{cells: readonly string[], seat: number}} Line a move that a bot expects */

/** Return the highlights under the pieces. @param {Scenery} scenery @returns {Node[]} */
export function marksBelow(scenery) {
  return scenery.stage.marks.flatMap((mark) => below(scenery, mark));
}

/** Return the highlights over the pieces. @param {Scenery} scenery @returns {Node[]} */
export function marksAbove(scenery) {
  return scenery.stage.marks.flatMap((mark) => above(scenery, mark));
}

/** @param {Scenery} scenery @param {Mark} mark @returns {Node[]} */
function below(scenery, mark) {
  const cells = known(scenery, mark.cells);
  if (cells.length === 0) return [];
  const first = themeOf(cells[0]);
  const name = `kb-mark kb-mark-${mark.kind} ${colour(mark.seat)}`;
  const shaped = (/** @type {number} */ shrink) =>
    cells.map((cell) => shapeOf(scenery, cell, shrink)).join("");
  if (mark.kind === "vision") return [svg("path", { d: shaped(0), class: name })];
  if (mark.kind === "path") return first === CROSSINGS ? [svg("path", { d: shaped(15), class: name })] : [];
  if (first === CROSSINGS && mark.kind !== "from") return [];
  if (mark.kind === "win") {
    return [svg("path", { d: shaped(0), class: `${name} kb-filled` }), svg("path", { d: shaped(2), class: name })];
  }
  const shrink = first === WOOD && mark.kind === "from" ? 7 : first === WOOD ? -0.5 : 1.5;
  return [svg("path", { d: shaped(shrink), class: name })];
}

/** @param {Scenery} scenery @param {Mark} mark @returns {Node[]} */
function above(scenery, mark) {
  const cells = known(scenery, mark.cells);
  if (cells.length === 0) return [];
  const points = cells.map((cell) => scenery.layout.pointAt(cell.x, cell.y));
  const theme = themeOf(cells[0]);
  if (theme === WOOD && mark.kind === "path") return arrow(points, colour(mark.seat), bentArcs);
  if (theme === TILES && mark.kind === "path") return polyline(points, colour(mark.seat));
  if (theme === CROSSINGS && mark.kind === "to") {
    const d = points.map(({ x, y }) => circlePath(x, y, 12.5)).join("");
    return [svg("path", { d, class: "kb-ring" })];
  }
  if (theme === CROSSINGS && mark.kind === "win") return winningLine(points);
  return [];
}

/** @param {Scenery} scenery @param {readonly string[]} names @returns {Cell[]} */
function known({ stage, layout }, names) {
  return names.filter((name) => layout.points.has(name)).map((name) => stage.cells[name]);
}

/** @param {number | undefined} seat */
function colour(seat) {
  return seat === undefined ? "kb-line-none" : `kb-line-${look(seat)}`;
}

/** @param {Point[]} points */
function winningLine(points) {
  if (points.length < 2) return [];
  const sorted = [...points].sort((a, b) => a.x - b.x || a.y - b.y);
  const [from, to] = [sorted[0], sorted[sorted.length - 1]];
  const d = `M${num(from.x)} ${num(from.y)}L${num(to.x)} ${num(to.y)}`;
  return [svg("path", { d, class: "kb-win-halo" }), svg("path", { d, class: "kb-win" })];
}

/** @param {Point[]} points @param {string} name */
function polyline(points, name) {
  if (points.length < 2) return [];
  const d = `M${points.map(({ x, y }) => `${num(x)} ${num(y)}`).join("L")}`;
  return [svg("path", { d, class: `kb-way ${name}` })];
}

// --- arrows ---------------------------------------------------------------------------------

/**
 * Draw an arrow along points that ends just before the last one.
 * @param {Point[]} stops
 * @param {string} name
 * @param {(from: Point, to: Point) => Point} bend the control point between two stops
 */
function arrow(stops, name, bend) {
  if (stops.length < 2) return [];
  const last = stops[stops.length - 1];
  const control = bend(stops[stops.length - 2], last);
  const angle = Math.atan2(last.y - control.y, last.x - control.x);
  const tip = polar(last, angle, -20);
  const neck = polar(tip, angle, -9);
  const way = stops.slice(1).map((stop, i) => {
    const middle = bend(stops[i], stop);
    const end = i === stops.length - 2 ? neck : stop;
    return `Q${num(middle.x)} ${num(middle.y)} ${num(end.x)} ${num(end.y)}`;
  });
  const d = `M${num(stops[0].x)} ${num(stops[0].y)}${way.join("")}`;
  const sides = [2.6, -2.6].map((turn) => polar(tip, angle + turn, 14));
  const head = polygonPath([tip, ...sides].map(({ x, y }) => [x, y]));
  const feet = stops.slice(0, -1).map(({ x, y }) => circlePath(x, y, 5)).join("");
  return [
    svg("path", { d, class: "kb-arrow-halo" }),
    svg("path", { d: head, class: `kb-arrow-head ${name}` }),
    svg("path", { d, class: `kb-arrow ${name}` }),
    svg("path", { d: feet, class: `kb-arrow-head ${name}` }),
  ];
}

/** @param {Point} from @param {Point} to */
function bentArcs(from, to) {
  const along = to.x - from.x;
  const up = to.y - from.y;
  const side = along >= 0 ? 0.2 : -0.2;
  return { x: (from.x + to.x) / 2 + up * side, y: (from.y + to.y) / 2 - along * side };
}

/**
 * Draw the moves that a bot expects, numbered from 1: an arrow between two cells, a ring around
 * one.
 * @param {Scenery} scenery
 * @param {readonly Line[]} lines
 * @returns {Node[]}
 */
export function expected(scenery, lines) {
  return lines.flatMap(({ cells, seat }, i) => {
    const points = known(scenery, cells)
      .map((cell) => scenery.layout.pointAt(cell.x, cell.y))
      .filter((at, j, all) => j === 0 || at.x !== all[j - 1].x || at.y !== all[j - 1].y);
    if (points.length === 0) return [];
    const at = points[points.length - 1];
    const name = `kb-line-${look(seat)}`;
    const shape = points.length > 1
      ? arrow(points, name, bentArcs)
      : [svg("path", { d: circlePath(at.x, at.y, 14), class: `kb-expected ${name}` })];
    const number = svg(
      "text", { x: at.x + 13, y: at.y - 13, class: "kb-order", dy: "0.35em", "text-anchor": "middle" },
      String(i + 1),
    );
    const disc = svg("circle", { cx: at.x + 13, cy: at.y - 13, r: 9, class: `kb-order-disc ${name}` });
    return [svg("g", { class: "kb-line", opacity: Math.max(0.7, 1 - i * 0.1) }, ...shape, disc, number)];
  });
}
