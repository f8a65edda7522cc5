// The geometry of a stage: positions of cells in pixels, neighbors, and the cell at a point.
//
// The measures match the pictures by `kibitz record export`. In a hexagonal lattice, neighbors in a
// row are two units of x apart; rows are one unit of y apart, which is drawn as sqrt(3) units of x.

/** @typedef {import("../wire/messages.js").Stage} Stage */
/** @typedef {import("../wire/messages.js").StageCell} Cell */
/** @typedef {import("./svg.js").Point} Point */
/** @typedef {{x: number, y: number, width: number, height: number}} Box */
/** @typedef {"left" | "right" | "up" | "down"} Direction */

export const HALF_PITCH = 22;
const EDGE = 32;
const LABEL_ROOM = 26;
/** The minimum size of a drawing, so that boards with few cells are not blown up. */
const LEAST = { width: 380, height: 150 };
const LABEL_DISTANCE = 38;
const CARD_PITCH = { x: 62, y: 46 };
const CARD_EDGE = 46;

/** The positions of a stage in pixels, with the first cell of the board at (0, 0). */
export class Layout {
  /**
   * @param {Stage} stage
   * @param {{buttons?: boolean, labels?: boolean}} [shown] which of these also get a
   *   position; buttons get one only if they are in a column of the board
   */
  constructor(stage, { buttons = false, labels = true } = {}) {
    const board = Object.values(stage.cells).filter((cell) => cell.kind !== "button");
    const reach = extent(board);
    const placed = (/** @type {Cell} */ cell) => cell.kind !== "button" ||
      (buttons && cell.x >= reach.left && cell.x <= reach.right);
    const shown = Object.values(stage.cells).filter(placed);
    this.hexagonal = stage.lattice === "hex";
    this.cards = board.length > 0 && board.every((cell) => cell.kind === "number");
    /** @type {Point} */
    this.pitch = this.hexagonal
      ? { x: HALF_PITCH, y: HALF_PITCH * Math.sqrt(3) }
      : this.cards ? CARD_PITCH : { x: 2 * HALF_PITCH, y: 2 * HALF_PITCH };
    this.board = reach;
    /** @type {Map<string, Point>} */
    this.points = new Map();
    for (const [name, cell] of Object.entries(stage.cells)) {
      if (placed(cell)) this.points.set(name, this.pointAt(cell.x, cell.y));
    }
    this.labels = labels ? stage.labels : [];
    /** The margin of the drawing around the outermost positions. */
    this.edges = this.#edges();
    this.box = this.#box(extent(shown));
  }

  /**
   * Return the pixel position of a lattice point.
   * @param {number} x
   * @param {number} y
   * @returns {Point}
   */
  pointAt(x, y) {
    return { x: (x - this.board.left) * this.pitch.x, y: (y - this.board.top) * this.pitch.y };
  }

  /** Return the center of a label; labels beside the board move close to it. @returns {Point} */
  labelPoint(/** @type {{x: number, y: number}} */ label) {
    const at = this.pointAt(label.x, label.y);
    const end = this.pointAt(this.board.right, this.board.bottom);
    const aside = this.cards ? CARD_PITCH.y : LABEL_DISTANCE;
    const step = this.hexagonal ? 2 : 1;
    if (label.x <= this.board.left - step) at.x = -LABEL_DISTANCE;
    else if (label.x >= this.board.right + step) at.x = end.x + LABEL_DISTANCE;
    if (label.y < this.board.top) at.y = -aside;
    else if (label.y > this.board.bottom) at.y = end.y + aside;
    return at;
  }

  #edges() {
    const { left, right, top, bottom } = this.board;
    const edge = this.cards ? CARD_EDGE : EDGE;
    const room = (/** @type {(label: {x: number, y: number}) => boolean} */ there) =>
      (this.labels.some(there) ? edge + LABEL_ROOM : edge);
    return {
      left: room(({ x }) => x < left),
      right: room(({ x }) => x > right),
      top: room(({ y }) => y < top),
      bottom: room(({ y }) => y > bottom),
    };
  }

  /** @param {ReturnType<typeof extent>} shown @returns {Box} */
  #box(shown) {
    const from = this.pointAt(shown.left, shown.top);
    const to = this.pointAt(shown.right, shown.bottom);
    from.x -= this.edges.left;
    to.x += this.edges.right;
    from.y -= this.edges.top;
    to.y += this.edges.bottom;
    const width = Math.max(to.x - from.x, LEAST.width);
    const height = Math.max(to.y - from.y, LEAST.height);
    return {
      x: (from.x + to.x - width) / 2, y: (from.y + to.y - height) / 2, width, height,
    };
  }
}

/** @param {readonly Cell[]} cells */
function extent(cells) {
  if (cells.length === 0) return { left: 0, right: 0, top: 0, bottom: 0 };
  const bounds = { left: Infinity, right: -Infinity, top: Infinity, bottom: -Infinity };
  for (const { x, y } of cells) {
    bounds.left = Math.min(bounds.left, x);
    bounds.right = Math.max(bounds.right, x);
    bounds.top = Math.min(bounds.top, y);
    bounds.bottom = Math.max(bounds.bottom, y);
  }
  return bounds;
}

/**
 * Return the cell nearest to a point, within a distance.
 * @param {Map<string, Point>} points
 * @param {Point} at
 * @param {number} [limit]
 * @returns {string | null}
 */
export function nearest(points, at, limit = Infinity) {
  let best = null;
  let least = limit;
  for (const [name, point] of points) {
    const distance = Math.hypot(point.x - at.x, point.y - at.y);
    if (distance < least) [best, least] = [name, distance];
  }
  return best;
}

/** @type {Record<Direction, Point>} */
const DIRECTIONS = {
  left: { x: -1, y: 0 }, right: { x: 1, y: 0 }, up: { x: 0, y: -1 }, down: { x: 0, y: 1 },
};

/**
 * Return the cell that an arrow key leads to. Cells that lie further to the side than ahead are
 * ignored; the smallest sum of both distances wins.
 * @param {Map<string, Point>} points
 * @param {string} from
 * @param {Direction} direction
 * @returns {string | null}
 */
export function neighbour(points, from, direction) {
  const start = points.get(from);
  if (!start) return null;
  const along = DIRECTIONS[direction];
  let best = null;
  let least = Infinity;
  for (const [name, point] of points) {
    const x = point.x - start.x;
    const y = point.y - start.y;
    const ahead = x * along.x + y * along.y;
    const aside = Math.abs(x * along.y) + Math.abs(y * along.x);
    if (ahead <= 0 || aside > ahead) continue;
    const cost = ahead + aside;
    if (cost < least) [best, least] = [name, cost];
  }
  return best;
}

/**
 * Return a path that covers cells of a wooden board: triangles or squares of neighbors, and lines.
 * @param {Layout} layout
 * @param {Iterable<readonly [string, Cell]>} cells
 * @param {(x: number, y: number) => string} write
 */
export function outline(layout, cells, write) {
  /** @type {Map<string, Point>} */
  const at = new Map();
  const known = [...cells];
  for (const [, cell] of known) at.set(`${cell.x},${cell.y}`, layout.pointAt(cell.x, cell.y));
  const parts = [];
  for (const [, cell] of known) {
    let linked = false;
    for (const corners of cliques(layout.hexagonal, cell.x, cell.y)) {
      const points = corners.map(([x, y]) => at.get(`${x},${y}`));
      if (points.every((point) => point !== undefined)) {
        linked = true;
        const way = points.map((point) => write(/** @type {Point} */ (point).x, point?.y ?? 0));
        parts.push(`M${way.join("L")}Z`);
      }
    }
    if (!linked) {
      const point = layout.pointAt(cell.x, cell.y);
      parts.push(`M${write(point.x, point.y)}h0.01`);
    }
  }
  return parts.join("");
}

/**
 * Return the triangles (or squares) and pairs of neighbors that have this point as first corner.
 */
function cliques(/** @type {boolean} */ hexagonal, /** @type {number} */ x, /** @type {number} */ y) {
  if (hexagonal) {
    const ring = [[x + 2, y], [x + 1, y + 1], [x - 1, y + 1], [x - 2, y]];
    const here = [x, y];
    return [
      [here, ring[0], ring[1]], [here, ring[1], ring[2]],
      [here, ring[0]], [here, ring[1]], [here, ring[2]],
    ];
  }
  return [
    [[x, y], [x + 1, y], [x + 1, y + 1], [x, y + 1]],
    [[x, y], [x + 1, y]],
    [[x, y], [x, y + 1]],
  ];
}

/**
 * Return the cells named in a move's text, in order: `c3-d4` names c3 and d4 if both exist.
 * @param {string} text
 * @param {Readonly<Record<string, unknown>>} cells
 */
export function cellsNamed(text, cells) {
  const whole = text.trim();
  if (Object.hasOwn(cells, whole)) return [whole];
  return (text.match(/\d+,\d+|[\p{L}\p{N}]+/gu) ?? []).filter((word) => Object.hasOwn(cells, word));
}
