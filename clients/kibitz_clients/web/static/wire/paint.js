// Paints: the merge patches of a stage.

/** @typedef {import("./messages.js").Stage} Stage */
/** @typedef {import("./messages.js").StageCell} StageCell */
/**
 * @typedef {object} Paint
 * @property {Record<string, {[field in keyof StageCell]?: StageCell[field] | null} | null>} [cells]
 *   fields that have changed; null for a removed cell
 * @property {Stage["labels"]} [labels]
 * @property {Stage["marks"]} [marks]
 * @property {Stage["text"]} [text]
 * @property {Stage["colours"]} [colours]
 */

/**
 * Return whether a paint removes cells.
 * @param {Paint} paint
 */
export function removes(paint) {
  return Object.values(paint.cells ?? {}).includes(null);
}

/**
 * Return a paint equivalent to `first`, which must not remove cells, followed by `second`.
 * @param {Paint} first
 * @param {Paint} second
 * @returns {Paint}
 */
export function merge(first, second) {
  const cells = { ...first.cells };
  for (const [name, cell] of Object.entries(second.cells ?? {})) cells[name] = cell && { ...cells[name], ...cell };
  return { ...first, ...second, cells };
}
