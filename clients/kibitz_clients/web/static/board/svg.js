// Creates SVG elements and formats their numbers and paths.

const NAMESPACE = "http://www.w3.org/2000/svg";

/** @typedef {{x: number, y: number}} Point */

/**
 * Make an SVG element.
 * @param {string} tag
 * @param {Record<string, string | number | undefined>} [attributes]
 * @param {...(Node | string | null)} children
 * @returns {SVGElement}
 */
export function svg(tag, attributes = {}, ...children) {
  const made = document.createElementNS(NAMESPACE, tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== undefined) made.setAttribute(name, typeof value === "number" ? num(value) : value);
  }
  for (const child of children) if (child !== null) made.append(child);
  return made;
}

/** Write a number with at most two decimals. @param {number} value */
export function num(value) {
  return String(Math.round(value * 100) / 100);
}

/**
 * Return the path of a circle, which can be joined to others.
 * @param {number} x
 * @param {number} y
 */
export function circlePath(x, y, /** @type {number} */ radius) {
  const r = num(radius);
  return `M${num(x - radius)} ${num(y)}a${r} ${r} 0 1 0 ${num(2 * radius)} 0` +
    `a${r} ${r} 0 1 0 ${num(-2 * radius)} 0z`;
}

/** Return a closed path through corners. @param {readonly (readonly [number, number])[]} corners */
export function polygonPath(corners) {
  return `M${corners.map(([x, y]) => `${num(x)} ${num(y)}`).join("L")}z`;
}

/** Return the path of a rectangle around a point. @param {number} x @param {number} y */
export function squarePath(x, y, /** @type {number} */ halfWidth, halfHeight = halfWidth) {
  return `M${num(x - halfWidth)} ${num(y - halfHeight)}h${num(2 * halfWidth)}` +
    `v${num(2 * halfHeight)}h${num(-2 * halfWidth)}z`;
}

/**
 * Return the path of a rectangle with round corners around a point.
 * @param {number} x
 * @param {number} y
 */
export function roundedPath(
  x, y,
  /** @type {number} */ halfWidth,
  /** @type {number} */ halfHeight,
  /** @type {number} */ radius,
) {
  const r = num(radius);
  const [across, down] = [num(2 * (halfWidth - radius)), num(2 * (halfHeight - radius))];
  const corner = (/** @type {number} */ right, /** @type {number} */ below) =>
    `a${r} ${r} 0 0 1 ${num(right * radius)} ${num(below * radius)}`;
  return `M${num(x - halfWidth + radius)} ${num(y - halfHeight)}h${across}${corner(1, 1)}` +
    `v${down}${corner(-1, 1)}h-${across}${corner(-1, -1)}v-${down}${corner(1, -1)}z`;
}

/** Return the path of a hexagon with a corner at the top. @param {number} x @param {number} y */
export function hexagonPath(x, y, /** @type {number} */ radius) {
  const corners = [];
  for (let i = 0; i < 6; i += 1) {
    const angle = Math.PI / 6 + (i * Math.PI) / 3;
    corners.push(
      /** @type {const} */ ([x + radius * Math.cos(angle), y + radius * Math.sin(angle)]),
    );
  }
  return polygonPath(corners);
}

/**
 * Return the point at distance `length` and `angle` radians clockwise from the right.
 * @param {Point} at
 */
export function polar(at, /** @type {number} */ angle, /** @type {number} */ length) {
  return { x: at.x + length * Math.cos(angle), y: at.y + length * Math.sin(angle) };
}
