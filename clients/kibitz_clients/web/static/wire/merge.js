// Two paints in a row as one.

/** @typedef {import("./stage.js").Paint} Paint */

/**
 * Return the paint that does what `first` and then `second` do.
 * @param {Paint} first
 * @param {Paint} second
 * @returns {Paint}
 */
export function merge(first, second) {
  const gone = new Set(first.gone);
  const cells = { ...first.cells };
  for (const name of second.gone ?? []) {
    delete cells[name];
    gone.add(name);
  }
  // Removals come before additions, so a cell may be in both.
  return { ...first, ...second, cells: { ...cells, ...second.cells }, gone: [...gone] };
}
