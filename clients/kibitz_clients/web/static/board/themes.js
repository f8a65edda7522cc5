// The look of cells by their kind: hollows in wood with marbles, crossings with stones, cards with
// numbers, tiles with tanks and wrecks, and buttons.
//
// Unknown kinds are drawn as tiles, so games can define their own kinds.

import { HALF_PITCH, outline } from "./geometry.js";
import { emblemPath, look, marble, placed, rectangle, stone, tank } from "./shapes.js";
import { circlePath, hexagonPath, num, polygonPath, roundedPath, squarePath, svg } from "./svg.js";
import { removes } from "../wire/paint.js";

/** @typedef {import("../wire/messages.js").StageCell} Cell */
/** @typedef {import("../wire/messages.js").Stage} Stage */
/** @typedef {import("../wire/paint.js").Paint} Paint */
/** @typedef {import("./geometry.js").Layout} Layout */
/** @typedef {import("./svg.js").Point} Point */
/** @typedef {{layout: Layout, stage: Stage, vehicles: boolean}} Scenery */
/** @typedef {{
 *   backdrop?: (scenery: Scenery, cells: [string, Cell][]) => (Node | null)[],
 *   ground: (scenery: Scenery, cell: Cell, at: Point) => Node | null,
 *   piece: (scenery: Scenery, cell: Cell, at: Point) => Node | null,
 *   shape: (scenery: Scenery, at: Point, shrink: number) => string,
 * }} Theme */

export const TILE_HALF = HALF_PITCH - 0.75;
const HEXAGON_RADIUS = (HALF_PITCH - 1.2) / Math.cos(Math.PI / 6);
const CARD = { width: 27, height: 33 };
const FEWEST_DOTTED = 9;

// --- hollows in wood ------------------------------------------------------------------------

/** @type {Theme} */
export const WOOD = {
  backdrop({ layout }, cells) {
    const d = outline(layout, cells, (x, y) => `${num(x)} ${num(y)}`);
    /** @type {Map<number, [string, Cell][]>} */
    const tinted = new Map();
    for (const pair of cells) {
      const { tint } = pair[1];
      if (tint !== undefined) tinted.set(tint, [...(tinted.get(tint) ?? []), pair]);
    }
    return [
      svg("path", { d, class: "kb-rim-shadow", transform: "translate(0 5)" }),
      svg("path", { d, class: "kb-rim" }),
      svg("path", { d, class: "kb-wood" }),
      ...[...tinted].map(([seat, own]) => svg("path", {
        d: outline(layout, own, (x, y) => `${num(x)} ${num(y)}`),
        class: `kb-home kb-home-${look(seat)}`,
      })),
      svg("path", { d, class: "kb-grain" }),
    ];
  },
  ground(scenery, cell, at) {
    const hollow = svg("circle", { cx: at.x, cy: at.y, r: 8.5, fill: "url(#kb-hole)" });
    if (!cell.glyph || cell.owner !== undefined) return hollow;
    return svg("g", {}, hollow, words(at, cell.glyph, "kb-glyph"));
  },
  piece(scenery, cell, at) {
    if (cell.owner === undefined) return null;
    return placed(
      at,
      ...marble(cell.owner, 16, !cell.glyph),
      cell.glyph ? words({ x: 0, y: 0 }, cell.glyph, "kb-glyph kb-on-piece") : null,
      cell.heading === undefined ? null : pointer(cell.heading),
    );
  },
  shape(scenery, at, shrink) {
    return circlePath(at.x, at.y, 20 - shrink);
  },
};

/** Draw an arrow at the rim of a piece with a heading. @param {number} heading */
function pointer(heading) {
  return svg("path", { d: "M0 -23l6 9h-12z", transform: `rotate(${heading})`, class: "kb-glyph" });
}

// --- crossings with stones ------------------------------------------------------------------

/** @type {Theme} */
export const CROSSINGS = {
  backdrop({ layout }, cells) {
    const at = new Map(cells.map(([, cell]) => [`${cell.x},${cell.y}`, cell]));
    const { left, right, top, bottom } = layout.board;
    const from = layout.pointAt(left, top);
    const to = layout.pointAt(right, bottom);
    const { edges } = layout;
    const [x, y] = [from.x - edges.left + 6, from.y - edges.top + 6];
    const [halfWidth, halfHeight] =
      [(to.x + edges.right - 6 - x) / 2, (to.y + edges.bottom - 6 - y) / 2];
    const plank = (/** @type {number} */ down, /** @type {string} */ name) =>
      rectangle(x + halfWidth, y + halfHeight + down, halfWidth, halfHeight, 9, name);
    return [
      plank(4, "kb-plank-shadow"),
      plank(0, "kb-plank"),
      svg("path", { d: lines(layout, at), class: "kb-lines" }),
      svg("path", { d: dots(layout, at), class: "kb-dots" }),
    ];
  },
  ground() {
    return null;
  },
  piece({ stage }, cell, at) {
    const kind = cell.colour ?? (cell.owner === undefined ? null : stoneOf(stage, cell.owner));
    const glyph = cell.glyph
      ? words({ x: 0, y: 0 }, cell.glyph, kind === "black" ? "kb-glyph kb-on-black" : "kb-glyph")
      : null;
    if (kind === null) return glyph ? placed(at, glyph) : null;
    return placed(at, ...stone(kind, cell.glyph ? null : cell.owner ?? null, 18.5), glyph);
  },
  shape(scenery, at, shrink) {
    return circlePath(at.x, at.y, 20 - shrink);
  },
};

/** Return the look of a seat's stones. @returns {"black" | "white" | number} */
export function stoneOf(/** @type {Stage} */ stage, /** @type {number} */ seat) {
  /** @type {readonly ("black" | "white")[]} */
  const colours = stage.colours.length ? stage.colours : ["black", "white"];
  return colours[seat] ?? seat;
}

/** Draw the lines of a board, each spanning a whole row or column. */
function lines(/** @type {Layout} */ layout, /** @type {Map<string, Cell>} */ at) {
  const parts = [];
  for (const [right, down] of [[1, 0], [0, 1]]) {
    for (const cell of at.values()) {
      if (at.has(`${cell.x - right},${cell.y - down}`)) continue;
      let [x, y] = [cell.x, cell.y];
      while (at.has(`${x + right},${y + down}`)) [x, y] = [x + right, y + down];
      if (x === cell.x && y === cell.y) continue;
      const from = layout.pointAt(cell.x, cell.y);
      const to = layout.pointAt(x, y);
      parts.push(`M${num(from.x)} ${num(from.y)}L${num(to.x)} ${num(to.y)}`);
    }
  }
  return parts.join("");
}

/** Draw the dots of a large board: near the corners and in the center. */
function dots(/** @type {Layout} */ layout, /** @type {Map<string, Cell>} */ at) {
  const { left, right, top, bottom } = layout.board;
  const side = Math.min(right - left, bottom - top) + 1;
  if (side < FEWEST_DOTTED) return "";
  const inset = side < 13 ? 2 : 3;
  const places = [[(left + right) / 2, (top + bottom) / 2]];
  for (const x of [left + inset, right - inset]) {
    for (const y of [top + inset, bottom - inset]) places.push([x, y]);
  }
  return places.filter(([x, y]) => at.has(`${x},${y}`)).map(([x, y]) => {
    const point = layout.pointAt(x, y);
    return circlePath(point.x, point.y, 4);
  }).join("");
}

// --- cards ----------------------------------------------------------------------------------

/** @type {Theme} */
export const CARDS = {
  ground(scenery, cell, at) {
    const tint = cell.tint === undefined ? "" : ` kb-card-${look(cell.tint)}`;
    return svg(
      "g", {},
      rectangle(at.x + 1.5, at.y + 3, CARD.width, CARD.height, 8, "kb-card-shadow"),
      rectangle(at.x, at.y, CARD.width, CARD.height, 8, `kb-card${tint}`),
    );
  },
  piece(scenery, cell, at) {
    const glyph = cell.glyph ?? "";
    const size = glyph.length < 3 ? "kb-number" : "kb-number kb-number-long";
    return placed(
      at,
      words({ x: 0, y: 0 }, glyph, size),
      cell.owner === undefined ? null : svg(
        "g", { transform: `translate(${num(CARD.width - 9)} ${num(9 - CARD.height)})` },
        ...marble(cell.owner, 7),
      ),
    );
  },
  shape(scenery, at, shrink) {
    return roundedPath(at.x, at.y, CARD.width - shrink, CARD.height - shrink, 8);
  },
};

// --- tiles ----------------------------------------------------------------------------------

const BOULDER = /** @type {const} */ ([
  [-0.82, 0.1], [-0.55, -0.62], [0.05, -0.8], [0.62, -0.55],
  [0.84, 0.12], [0.58, 0.68], [-0.12, 0.8], [-0.66, 0.6],
]);
const FACET = /** @type {const} */ ([[-0.55, -0.62], [0.05, -0.8], [0.62, -0.55], [0.1, -0.2]]);
const TILE_KINDS = new Set(["floor", "seen", "fog", "rock", "wreck", "gone"]);

/** @type {Theme} */
export const TILES = {
  backdrop({ layout }, cells) {
    if (layout.hexagonal) return [];
    const { left, right, top, bottom } = layout.board;
    const from = layout.pointAt(left, top);
    const to = layout.pointAt(right, bottom);
    const tray = (/** @type {number} */ down, /** @type {string} */ name) => rectangle(
      (from.x + to.x) / 2, (from.y + to.y) / 2 + down,
      (to.x - from.x) / 2 + HALF_PITCH + 4, (to.y - from.y) / 2 + HALF_PITCH + 4, 7, name,
    );
    return cells.length ? [tray(4, "kb-tray-shadow"), tray(0, "kb-tray")] : [];
  },
  ground(scenery, cell, at) {
    const kind = TILE_KINDS.has(cell.kind) ? cell.kind : "floor";
    const tint = cell.tint === undefined ? "" : ` kb-tint-${look(cell.tint)}`;
    const hexagonal = scenery.layout.hexagonal ? " kb-hexagon" : "";
    const tile = svg("path", {
      d: tilePath(scenery, at, 0), class: `kb-tile kb-${kind}${tint}${hexagonal}`,
    });
    const more = decoration(scenery, cell, at);
    return more.length ? svg("g", {}, tile, ...more) : tile;
  },
  piece({ vehicles }, cell, at) {
    if (cell.owner === undefined) return null;
    if (vehicles) return placed(at, ...tank(cell.owner, cell.heading));
    return placed(
      at,
      ...marble(cell.owner, 14, !cell.glyph),
      cell.glyph ? words({ x: 0, y: 0 }, cell.glyph, "kb-glyph kb-on-piece") : null,
    );
  },
  shape: tilePath,
};

/** @param {Scenery} scenery @param {Point} at @param {number} shrink */
function tilePath({ layout }, at, shrink) {
  return layout.hexagonal
    ? hexagonPath(at.x, at.y, HEXAGON_RADIUS - shrink)
    : squarePath(at.x, at.y, TILE_HALF - shrink);
}

/** Draw the contents of a tile without a piece. @returns {Node[]} */
function decoration(/** @type {Scenery} */ scenery, /** @type {Cell} */ cell, /** @type {Point} */ at) {
  if (cell.kind === "rock") return rock(at, scenery.layout.hexagonal ? 0.92 : 1);
  if (cell.kind === "wreck") return [wreck(at)];
  if (cell.kind === "gone") return [cross(cell, at)];
  if (cell.owner !== undefined) return [];
  if (cell.glyph) return [words(at, cell.glyph, "kb-glyph kb-name")];
  if (cell.kind !== "floor" || cell.tint === undefined) return [];
  return [svg("path", { d: emblemPath(cell.tint, at, 3.2), class: `kb-trail-${look(cell.tint)}` })];
}

/** @param {Point} at @param {number} size */
function rock(at, size) {
  const half = (HALF_PITCH - 3) * size;
  const scaled = (/** @type {readonly (readonly [number, number])[]} */ shape) =>
    polygonPath(shape.map(([x, y]) => [at.x + half * x, at.y + half * y]));
  return [
    svg("path", { d: scaled(BOULDER), class: "kb-boulder" }),
    svg("path", { d: scaled(FACET), class: "kb-facet" }),
  ];
}

/** Draw a burnt hull, tilted on its scorched tile. @param {Point} at */
function wreck(at) {
  return placed(
    at,
    svg("circle", { r: 17.5, class: "kb-scorched" }),
    svg(
      "g", { transform: "rotate(24)" },
      rectangle(-9.5, 0, 3.2, 13, 2, "kb-burnt"),
      rectangle(9.5, 2, 3.2, 13, 2, "kb-burnt"),
      rectangle(0, 1, 8, 11, 2, "kb-burnt kb-soot"),
      svg("circle", { cx: 1, r: 5.5, class: "kb-burnt kb-embers" }),
      svg("path", { d: "M-4 -4L6 5M6 -4L-4 5", class: "kb-embers kb-glow" }),
    ),
  );
}

/** Draw a seat's mark on a tile: an x or an o. @param {Cell} cell @param {Point} at */
function cross(cell, at) {
  const name = cell.tint === undefined ? "kb-cross" : `kb-cross kb-cross-${look(cell.tint)}`;
  if (cell.glyph === "o") return svg("circle", { cx: at.x, cy: at.y, r: 9, class: name });
  return svg("path", {
    d: `M${num(at.x - 8)} ${num(at.y - 8)}l16 16m0 -16l-16 16`, class: name,
  });
}

// --- buttons --------------------------------------------------------------------------------

/** @type {Theme} */
const BUTTONS = {
  ground(scenery, cell, at) {
    return svg(
      "g", {}, rectangle(at.x, at.y, 19, 19, 7, "kb-button"),
      words(at, cell.glyph ?? "", "kb-glyph kb-button-text"),
    );
  },
  piece() {
    return null;
  },
  shape(scenery, at, shrink) {
    return roundedPath(at.x, at.y, 19 - shrink, 19 - shrink, 7);
  },
};

// --- selection -------------------------------------------------------------------------------

/** @type {Record<string, Theme>} */
const BY_KIND = {
  hole: WOOD, home: WOOD, goal: WOOD, point: CROSSINGS, number: CARDS, button: BUTTONS,
};
/** From back to front. */
export const THEMES = [WOOD, CROSSINGS, CARDS, TILES, BUTTONS];

/** @param {Cell} cell */
export function themeOf(cell) {
  return Object.hasOwn(BY_KIND, cell.kind) ? BY_KIND[cell.kind] : TILES;
}

/**
 * Return whether a paint changes the board as a whole, which must then be drawn anew.
 * @param {Scenery} scenery before the paint
 * @param {Stage} after
 * @param {Paint} paint
 */
export function rebuilds({ stage, vehicles }, after, paint) {
  return removes(paint) || paint.colours !== undefined ||
    Object.keys(paint.cells ?? {}).some((name) =>
      stage.cells[name] === undefined || movesGround(stage.cells[name], after.cells[name])) ||
    hasVehicles(Object.values(after.cells)) !== vehicles;
}

/** @param {Cell} before @param {Cell} after */
function movesGround(before, after) {
  return before.x !== after.x || before.y !== after.y || themeOf(before) !== themeOf(after) ||
    (themeOf(before) === WOOD && before.tint !== after.tint);
}

/** @param {Stage} stage @param {Layout} layout @returns {Scenery} */
export function sceneryOf(stage, layout) {
  return { stage, layout, vehicles: hasVehicles(Object.values(stage.cells)) };
}

/** Return whether the pieces are vehicles: some have a heading or are wrecks. */
export function hasVehicles(/** @type {readonly Cell[]} */ cells) {
  return cells.some((cell) => cell.kind === "wreck" ||
    (cell.heading !== undefined && themeOf(cell) === TILES));
}

/** Draw text centered on a point. @param {Point} at @param {string} text @param {string} name */
export function words(at, text, name) {
  return svg("text", { x: at.x, y: at.y, class: name, dy: "0.35em", "text-anchor": "middle" }, text);
}

/** @param {Scenery} scenery @param {Cell} cell */
export function shapeOf(scenery, cell, shrink = 0) {
  return themeOf(cell).shape(scenery, scenery.layout.pointAt(cell.x, cell.y), shrink);
}
