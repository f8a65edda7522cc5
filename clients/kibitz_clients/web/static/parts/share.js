// Pictures of a board as files: a standalone SVG, and a PNG drawn from it.

const PIXELS = 1200;
/** The properties that style sheets set in a drawing; a file has no style sheets. */
const STYLES = ["fill", "fill-opacity", "stroke", "stroke-width", "stroke-opacity", "stroke-dasharray",
  "stroke-linecap", "stroke-linejoin", "opacity", "font-family", "font-size", "font-weight", "text-anchor",
  "dominant-baseline", "paint-order", "display", "visibility"];

/**
 * Return the drawing of a board as SVG text.
 * @param {SVGSVGElement} drawing
 * @param {string} background
 */
export function svgText(drawing, background) {
  const copy = /** @type {SVGSVGElement} */ (drawing.cloneNode(true));
  const from = [drawing, ...drawing.querySelectorAll("*")];
  [copy, ...copy.querySelectorAll("*")].forEach((element, i) => {
    const style = getComputedStyle(from[i]);
    for (const name of STYLES) element.setAttribute(name, style.getPropertyValue(name));
    for (const name of ["class", "style", "tabindex", "role", "aria-label"]) element.removeAttribute(name);
  });
  const { width, height } = drawing.viewBox.baseVal;
  copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
  copy.setAttribute("width", String(PIXELS));
  copy.setAttribute("height", String(Math.round((PIXELS * height) / width)));
  const { x, y } = drawing.viewBox.baseVal;
  const ground = document.createElementNS("http://www.w3.org/2000/svg", "rect");
  for (const [name, value] of Object.entries({ x, y, width, height, fill: background })) {
    ground.setAttribute(name, String(value));
  }
  copy.prepend(ground);
  return new XMLSerializer().serializeToString(copy);
}

/**
 * Convert SVG text to a PNG.
 * @param {string} text
 * @returns {Promise<Blob>}
 */
export async function pngOf(text) {
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}`;
  await image.decode();
  const canvas = document.createElement("canvas");
  canvas.width = image.naturalWidth;
  canvas.height = image.naturalHeight;
  canvas.getContext("2d")?.drawImage(image, 0, 0);
  return new Promise((resolve, reject) => {
    canvas.toBlob((blob) => (blob ? resolve(blob) : reject(new Error("The picture could not be drawn."))), "image/png");
  });
}

/**
 * Let the browser save a file.
 * @param {Blob} blob
 * @param {string} name
 */
export function download(blob, name) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
