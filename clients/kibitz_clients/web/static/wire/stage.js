// Drawings as they travel: a stage, and paints that change it (docs/protocol, "Drawings"). Pure.

/** @typedef {import("./messages.js").Stage} Stage */
/** @typedef {import("./messages.js").Paint} Paint */

/**
 * Return a stage with a paint applied; neither is changed, and what stayed as it was is shared.
 * @param {Stage} stage
 * @param {Paint} paint
 * @returns {Stage}
 */
export function apply(stage, paint) {
  const next = { ...stage };
  if (paint.gone || paint.cells) {
    next.cells = { ...stage.cells };
    for (const name of paint.gone ?? []) delete next.cells[name];
    Object.assign(next.cells, paint.cells);
  }
  if (paint.labels) next.labels = paint.labels;
  if (paint.marks) next.marks = paint.marks;
  if (paint.text) next.text = paint.text;
  if (paint.colours) next.colours = paint.colours;
  return next;
}
