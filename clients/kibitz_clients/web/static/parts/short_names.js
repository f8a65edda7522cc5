// Names of a match's players in little room: shortened, and still told apart.
//
// A name that does not fit loses its end ("alphabet…"). Those that then read like another one lose
// their middle instead ("alph…ep-2"), or else their beginning, and where that is no better, the number
// of the seat, from 1, tells them apart. The terminal has the same rule (short_names.py).

const ELLIPSIS = "…";
/** What names of the server's own bots begin with, which tells the least. */
const HOUSE = "house ";

/** @typedef {(name: string[], kept: number, seat: number) => string} Cut makes what is shown */

/** @type {Cut} */
const end = (name, kept) => name.slice(0, kept).join("") + ELLIPSIS;
/** @type {Cut} */
const middle = (name, kept) => {
  const last = Math.floor(kept / 2);
  return name.slice(0, kept - last).join("") + ELLIPSIS + name.slice(name.length - last).join("");
};
/** @type {Cut} */
const start = (name, kept) => ELLIPSIS + name.slice(-kept).join("");
/** @type {Cut} */
const numbered = (name, kept, seat) => `${name.slice(0, kept).join("")}${ELLIPSIS}${seat}`;

/**
 * The names by seat, as much of each as fits; different names stay different.
 * @param {readonly string[]} names
 * @param {(text: string) => boolean} fits
 */
export function shorten(names, fits) {
  const shown = names.map((name, seat) => fitting(name, seat + 1, fits, end));
  for (const cut of [middle, start, numbered]) {
    for (const seat of alike(names, shown)) shown[seat] = fitting(names[seat], seat + 1, fits, cut);
  }
  return shown;
}

/**
 * The seats whose name reads like a different one of another seat.
 * @param {readonly string[]} names @param {readonly string[]} shown
 */
function alike(names, shown) {
  const other = (/** @type {number} */ seat) =>
    shown.some((text, index) => text === shown[seat] && names[index] !== names[seat]);
  return [...shown.keys()].filter(other);
}

/**
 * A name, or as much of it as fits.
 * @param {string} name @param {number} seat @param {(text: string) => boolean} fits @param {Cut} cut
 */
function fitting(name, seat, fits, cut) {
  if (fits(name)) return name;
  const bare = name.startsWith(HOUSE) ? name.slice(HOUSE.length) : name;
  if (cut !== numbered && fits(bare)) return bare;
  const letters = [...bare];
  for (let kept = letters.length - 1; kept > 0; kept -= 1) {
    const text = cut(letters, kept, seat);
    if (fits(text)) return text;
  }
  return cut(letters, 1, seat);
}
