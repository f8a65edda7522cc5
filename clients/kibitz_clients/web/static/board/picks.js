// Picking a legal action cell by cell: which cells come next, and which action is complete.
//
// The server gives for each legal action the cells to pick, in order, and no action's cells are
// the beginning of another's: so the last cell decides.

/** @typedef {{cells: readonly string[], action: Record<string, unknown>}} Pick */

/** Whether the cells of a pick begin with `prefix`. */
function begins(/** @type {Pick} */ pick, /** @type {readonly string[]} */ prefix) {
  return pick.cells.length >= prefix.length && prefix.every((cell, i) => pick.cells[i] === cell);
}

/**
 * The cells that may be picked after those of `prefix`.
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
 * The action that exactly these cells pick, or null.
 * @param {readonly Pick[]} picks
 * @param {readonly string[]} cells
 */
export function completed(picks, cells) {
  if (cells.length === 0) return null;
  return picks.find((pick) => pick.cells.length === cells.length && begins(pick, cells)) ?? null;
}

/** Picks that need no cell, such as a pass: they are played by a button. */
export function cellless(/** @type {readonly Pick[]} */ picks) {
  return picks.filter((pick) => pick.cells.length === 0);
}

/**
 * Return the picked cells after another pick: more, others, or fewer of them.
 *
 * A cell that continues is added. Otherwise the last cell takes itself back, a cell that may begin
 * a pick begins anew, and anything else leaves all as it is.
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

/** An action as text, by default its values. */
export function actionText(/** @type {Record<string, unknown>} */ action) {
  const entries = Object.entries(action).filter(([, value]) => value !== null);
  if (entries.length === 0) return "play";
  return entries
    .map(([name, value]) => (value === true ? name : value === false ? `no ${name}` : String(value)))
    .join(" ");
}
