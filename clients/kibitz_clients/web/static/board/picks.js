// Picking a legal action cell by cell: which cells come next, and which action is complete.
//
// For each legal action the server lists the cells to pick in order. No action's cells are a prefix
// of another's, so an action is complete with its last cell.

/** @typedef {{cells: readonly string[], action: Record<string, unknown>}} Pick */

/** Return whether the cells of a pick begin with `prefix`. */
function begins(/** @type {Pick} */ pick, /** @type {readonly string[]} */ prefix) {
  return pick.cells.length >= prefix.length && prefix.every((cell, i) => pick.cells[i] === cell);
}

/**
 * Return the cells that can follow `prefix`.
 * @param {readonly Pick[]} picks
 * @param {readonly string[]} prefix
 * @returns {Set<string>}
 */
export function nextCells(picks, prefix) {
  const next = new Set();
  for (const pick of picks) {
    if (pick.cells.length > prefix.length && begins(pick, prefix)) {
      next.add(pick.cells[prefix.length]);
    }
  }
  return next;
}

/**
 * Return the action with exactly these cells, or null.
 * @param {readonly Pick[]} picks
 * @param {readonly string[]} cells
 */
export function completed(picks, cells) {
  if (cells.length === 0) return null;
  return picks.find((pick) => pick.cells.length === cells.length && begins(pick, cells)) ?? null;
}

/** Return the picks without cells, such as a pass; they are played by a button. */
export function cellless(/** @type {readonly Pick[]} */ picks) {
  return picks.filter((pick) => pick.cells.length === 0);
}

/**
 * Return the picked cells after a press on `cell`.
 *
 * A cell that continues the prefix is added. Pressing the last cell again takes it back, a cell
 * that can start a pick starts over, and any other cell changes nothing.
 * @param {readonly Pick[]} picks
 * @param {readonly string[]} prefix
 * @param {string} cell
 * @returns {readonly string[]}
 */
export function pressed(picks, prefix, cell) {
  if (nextCells(picks, prefix).has(cell)) return [...prefix, cell];
  if (prefix.length > 0 && prefix[prefix.length - 1] === cell) return prefix.slice(0, -1);
  return nextCells(picks, []).has(cell) ? [cell] : prefix;
}

/** Return an action as text, by default its values. */
export function actionText(/** @type {Record<string, unknown>} */ action) {
  const entries = Object.entries(action).filter(([, value]) => value !== null);
  if (entries.length === 0) return "play";
  return entries
    .map(([name, value]) => (value === true ? name : value === false ? `no ${name}` : String(value)))
    .join(" ");
}
