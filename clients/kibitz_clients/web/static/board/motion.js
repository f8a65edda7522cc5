// Animations of a paint: a piece moves along its path, or a new piece appears.

/** @typedef {import("../wire/paint.js").Paint} Paint */
/** @typedef {import("../wire/messages.js").Stage} Stage */
/** @typedef {import("../wire/messages.js").StageCell} Cell */
/** @typedef {import("./svg.js").Point} Point */
/** @typedef {{kind: "way", cell: string, way: readonly string[]} |
 *   {kind: "new", cell: string}} Motion */

const HOP_MS = 170;
const LONGEST_MS = 1100;
const APPEAR_MS = 160;

/**
 * Return the motions between two stages: the path of the last move if a piece went from its first
 * cell to its last, else a piece that changed its cell, and new pieces.
 * @param {Stage} before
 * @param {Stage} after
 * @param {Paint} paint
 * @returns {Motion[]}
 */
export function motions(before, after, paint) {
  const changed = Object.keys(paint.cells ?? {});
  const arrived = changed.filter((name) => owner(after, name) !== undefined &&
    owner(before, name) !== owner(after, name));
  const left = changed.filter((name) => owner(before, name) !== undefined &&
    owner(after, name) !== owner(before, name));
  return arrived.map((cell) => {
    const way = wayTo(after, cell, paint) ?? slide(before, after, cell, left);
    return way && owner(before, way[0]) === owner(after, cell) && left.includes(way[0])
      ? { kind: "way", cell, way }
      : { kind: "new", cell };
  });
}

/** @param {Stage} stage @param {string} name */
function owner(stage, name) {
  return stage.cells[name]?.owner;
}

/** @param {Stage} after @param {string} cell @param {Paint} paint */
function wayTo(after, cell, paint) {
  const path = (paint.marks ?? []).find((mark) =>
    mark.kind === "path" && mark.cells.length > 1 && mark.cells[mark.cells.length - 1] === cell);
  return path && path.cells.every((name) => Object.hasOwn(after.cells, name)) ? path.cells : null;
}

/** @param {Stage} before @param {Stage} after @param {string} cell @param {string[]} left */
function slide(before, after, cell, left) {
  const from = left.filter((name) => owner(before, name) === owner(after, cell));
  return from.length === 1 ? [from[0], cell] : null;
}

/**
 * Animate the drawing of a piece. Returns the animation, or null if none is possible.
 * @param {SVGElement} piece
 * @param {readonly Point[]} points
 */
export function animate(piece, points) {
  if (points.length < 2) {
    const at = points[0];
    return piece.animate(
      [{ transform: place(at, 0.4), opacity: 0 }, { transform: place(at), opacity: 1 }],
      { duration: APPEAR_MS, easing: "ease-out" },
    );
  }
  /** @type {Keyframe[]} */
  const frames = [{ transform: place(points[0]) }];
  for (const [i, to] of points.slice(1).entries()) {
    const from = points[i];
    const middle = { x: (from.x + to.x) / 2, y: (from.y + to.y) / 2 };
    frames.push({ transform: place(middle, 1.22), easing: "ease-out" });
    frames.push({ transform: place(to), easing: "ease-in-out" });
  }
  const duration = Math.min(HOP_MS * (points.length - 1) + 80, LONGEST_MS);
  return piece.animate(frames, { duration });
}

/** @param {Point} at */
function place(at, size = 1) {
  return `translate(${at.x}px, ${at.y}px) scale(${size})`;
}
