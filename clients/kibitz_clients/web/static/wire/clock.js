// Time controls: a seat's remaining time, and formatting. Pure. Must agree with `until_flag` and
// `TimeControl.__str__` of kibitz_protocol/wire/clocks.py.

/** @typedef {import("./messages.js").Clock} Clock */
/** @typedef {import("./messages.js").TimeControl} TimeControl */

/**
 * The milliseconds that a turn started with this clock may take before the flag falls.
 * @param {TimeControl} control
 * @param {Clock} clock
 */
export function untilFlag(control, clock) {
  const periods = (clock.periods ?? 0) * (control.period_ms ?? 0);
  return (control.move_ms ?? 0) + (clock.main_ms ?? 0) + (clock.bank_ms ?? 0) + periods;
}

/**
 * Return whether a flag can fall at all.
 * @param {TimeControl} control
 */
export function isLimited(control) {
  return Boolean(control.move_ms || control.main_ms || control.bank_ms || control.periods);
}

/**
 * Return a time control as people write it: `60+1`, `move=2`, `byo=60+3x10`, `none`; in seconds.
 * @param {TimeControl} control
 */
export function controlText(control) {
  if (!isLimited(control)) return "none";
  const parts = [];
  const main = seconds(control.main_ms);
  if (control.periods) {
    parts.push(`byo=${main}+${control.periods}x${seconds(control.period_ms)}`);
    if (control.increment_ms) parts.push(`inc=${seconds(control.increment_ms)}`);
  } else if (control.main_ms || control.increment_ms) {
    parts.push(`${main}+${seconds(control.increment_ms)}`);
  }
  if (control.move_ms) parts.push(`move=${seconds(control.move_ms)}`);
  if (control.bank_ms) parts.push(`bank=${seconds(control.bank_ms)}`);
  return parts.join(",");
}

/** @param {number | undefined} millis */
function seconds(millis) {
  return String((millis ?? 0) / 1000);
}

/**
 * Format a remaining time for people: `1:05`, `9.4`, `1:00:00`.
 * @param {number} millis
 */
export function leftText(millis) {
  const left = Math.max(0, millis);
  if (left < 10_000) return (Math.floor(left / 100) / 10).toFixed(1);
  const all = Math.floor(left / 1000);
  const [hours, minutes, rest] = [Math.floor(all / 3600), Math.floor(all / 60) % 60, all % 60];
  const tail = String(rest).padStart(2, "0");
  return hours ? `${hours}:${String(minutes).padStart(2, "0")}:${tail}` : `${minutes}:${tail}`;
}
