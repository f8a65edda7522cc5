// JSON Merge Patch (RFC 7396), the format of the server's updates. Pure.

/**
 * Return `target` with `patch` applied; neither is modified, and unchanged parts are shared.
 * @template T
 * @param {T} target
 * @param {unknown} patch
 * @returns {T}
 */
export function apply(target, patch) {
  if (!isObject(patch)) return /** @type {T} */ (patch);
  const next = /** @type {Record<string, unknown>} */ (isObject(target) ? { ...target } : {});
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) delete next[name];
    else next[name] = apply(next[name], value);
  }
  return /** @type {T} */ (next);
}

/** @param {unknown} value @returns {value is Record<string, unknown>} */
function isObject(value) {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
