// The pieces of seats: colors, gradients, and emblems for telling them apart without colors.
//
// Gradients are defined once per page and styled by classes, so that `board.css` can set them for
// each theme.

import { circlePath, num, polygonPath, squarePath, svg } from "./svg.js";

/** @typedef {import("./svg.js").Point} Point */

/** The number of distinct colors and emblems; further seats start over. */
export const LOOKS = 6;
const DEFINITIONS = "kibitz-board-definitions";

/** @type {readonly (readonly (readonly [number, number])[])[]} */
const EMBLEMS = [
  [],
  [[0, -1], [0.87, 0.5], [-0.87, 0.5]],
  [[-0.8, -0.8], [0.8, -0.8], [0.8, 0.8], [-0.8, 0.8]],
  [[0, -1.1], [0.85, 0], [0, 1.1], [-0.85, 0]],
  Array.from({ length: 10 }, (_, i) => {
    const length = i % 2 === 0 ? 1.15 : 0.48;
    const angle = (i * Math.PI) / 5;
    return /** @type {const} */ ([length * Math.sin(angle), -length * Math.cos(angle)]);
  }),
  [
    [-1, -3], [1, -3], [1, -1], [3, -1], [3, 1], [1, 1],
    [1, 3], [-1, 3], [-1, 1], [-3, 1], [-3, -1], [-1, -1],
  ].map(([x, y]) => /** @type {const} */ ([x / 3, y / 3])),
];

/** Return the index of a seat's color and emblem. @param {number} seat */
export function look(seat) {
  return seat % LOOKS;
}

/** Return the path of a seat's emblem around a point. @param {number} seat @param {Point} at */
export function emblemPath(seat, at, /** @type {number} */ size) {
  const corners = EMBLEMS[look(seat)];
  if (corners.length === 0) return circlePath(at.x, at.y, size * 0.85);
  return polygonPath(corners.map(([x, y]) => [at.x + size * x, at.y + size * y]));
}

/** Return an SVG group at a point. @param {Point} at @param {...(Node | null)} children */
export function placed(at, ...children) {
  return svg("g", { transform: `translate(${num(at.x)} ${num(at.y)})` }, ...children);
}

export const ORIGIN = { x: 0, y: 0 };

/** Draw a marble around the origin, with its seat's emblem unless something else is drawn there. */
export function marble(/** @type {number} */ seat, /** @type {number} */ radius, marked = true) {
  return [
    shadow(radius),
    svg("circle", {
      r: radius, fill: `url(#kb-seat-${look(seat)})`, class: `kb-edge kb-dark-${look(seat)}`,
    }),
    marked ? svg("path", {
      d: emblemPath(seat, ORIGIN, radius * 0.36), class: `kb-emblem kb-ink-${look(seat)}`,
    }) : null,
  ];
}

/** Draw a stone around the origin: black, white, or in the color of its seat. */
export function stone(
  /** @type {"black" | "white" | number} */ kind,
  /** @type {number | null} */ seat,
  /** @type {number} */ radius,
) {
  const name = typeof kind === "number" ? `seat-${look(kind)}` : kind;
  return [
    shadow(radius),
    svg("circle", { r: radius, fill: `url(#kb-${name})`, class: "kb-edge kb-stone-edge" }),
    seat === null ? null : svg("path", {
      d: emblemPath(seat, ORIGIN, radius * 0.34), class: `kb-seat-${look(seat)}`,
    }),
  ];
}

/** Draw a tank around the origin, or only its turret if its heading is unknown. */
export function tank(/** @type {number} */ seat, /** @type {number | undefined} */ heading) {
  const own = look(seat);
  const angle = (((heading ?? 0) + 90) * Math.PI) / 180;
  const middle = { x: 1.5 * Math.cos(angle), y: 1.5 * Math.sin(angle) };
  const hull = heading === undefined
    ? [svg("circle", { cy: 1.5, r: 12, class: `kb-edge kb-seat-${own} kb-dark-${own}` })]
    : [
      svg("path", { d: squarePath(-11.5, 1, 3.5, 15), class: "kb-track" }),
      svg("path", { d: squarePath(11.5, 1, 3.5, 15), class: "kb-track" }),
      rectangle(0, 1.5, 9.5, 13, 3, `kb-edge kb-seat-${own} kb-dark-${own}`),
      rectangle(0, -11, 2.3, 9, 1, `kb-ink-${own}`),
    ];
  return [
    svg("g", { transform: heading ? `rotate(${heading})` : undefined },
      ...hull,
      svg("circle", { cy: 1.5, r: 8, class: `kb-edge kb-light-${own} kb-dark-${own}` })),
    svg("path", { d: emblemPath(seat, middle, 3.8), class: `kb-ink-${own}` }),
  ];
}

/** Draw a rectangle with round corners around a point. @param {number} x @param {number} y */
export function rectangle(
  x, y,
  /** @type {number} */ halfWidth,
  /** @type {number} */ halfHeight,
  /** @type {number} */ radius,
  /** @type {string} */ name,
) {
  return svg("rect", {
    x: x - halfWidth, y: y - halfHeight, width: 2 * halfWidth, height: 2 * halfHeight,
    rx: radius, class: name,
  });
}

/** @param {number} radius */
function shadow(radius) {
  return svg("ellipse", {
    cx: 1.5, cy: radius * 0.22, rx: radius * 1.04, ry: radius, class: "kb-shadow",
  });
}

/** Add the gradients of all boards to the page, once. */
export function defineGradients(/** @type {Document} */ page) {
  if (page.getElementById(DEFINITIONS)) return;
  const seats = Array.from({ length: LOOKS }, (_, seat) => ball(`seat-${seat}`));
  page.body.append(svg(
    "svg",
    { id: DEFINITIONS, width: 0, height: 0, "aria-hidden": "true", class: "kb-definitions" },
    svg(
      "defs", {}, ...seats, ball("black"), ball("white"),
      gradient("radialGradient", "hole", [[0, "a"], [0.75, "b"], [1, "c"]], {
        cx: 0.5, cy: 0.35, r: 0.65,
      }),
      down("wood"), down("plank"), down("card"), down("fog"),
    ),
  ));
}

/** @param {string} name */
function ball(name) {
  return gradient("radialGradient", name, [[0, "a"], [0.22, "b"], [0.62, "c"], [1, "d"]], {
    cx: 0.36, cy: 0.3, r: 0.72,
  });
}

/** @param {string} name */
function down(name) {
  return gradient("linearGradient", name, [[0, "a"], [1, "b"]], { x1: 0, y1: 0, x2: 0, y2: 1 });
}

/**
 * @param {string} tag
 * @param {string} name
 * @param {[number, string][]} stops the position of each color, and the suffix of its class
 * @param {Record<string, number>} measures
 */
function gradient(tag, name, stops, measures) {
  const made = stops.map(([offset, part]) =>
    svg("stop", { offset, class: `kb-stop-${name}-${part}` }));
  return svg(tag, { id: `kb-${name}`, ...measures }, ...made);
}
