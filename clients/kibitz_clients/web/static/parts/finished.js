// Loads the settings and the end of a finished match from its record.

import { at } from "./address.js";

/** @typedef {import("../wire/messages.js").Snapshot} Snapshot */

/**
 * Return a snapshot of a finished match without its stage, which `history` provides. Rejects if the
 * record is missing.
 * @param {string} id
 * @returns {Promise<Snapshot>}
 */
export async function finishedSnapshot(id) {
  const answer = await fetch(at(`/records/${encodeURIComponent(id)}.jsonl`));
  if (!answer.ok) throw new Error("The match is over, and its record is no longer available.");
  const lines = (await answer.text()).trim().split("\n");
  return snapshotOf(JSON.parse(lines[0]), JSON.parse(lines[lines.length - 1]), lines.length - 2);
}

/**
 * @param {Record<string, any>} setup the first line of a record
 * @param {Record<string, any>} footer the last one
 * @param {number} entries the number of lines between them
 * @returns {Snapshot}
 */
export function snapshotOf(setup, footer, entries) {
  return /** @type {any} */ ({
    ...setup, type: "snapshot", why: "watching", away: [], seq: entries,
    ply: footer.result?.plies ?? 0, to_act: -1, view: {}, result: footer.result ?? null,
  });
}
