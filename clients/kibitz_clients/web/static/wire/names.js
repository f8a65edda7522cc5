// The names of players as people read them. Pure.

/**
 * Return a player's name; the mark of house bots replaces the prefix that reserves their names.
 * @param {{name: string, kind: string}} player
 */
export function shownName({ name, kind }) {
  return kind === "house" ? name.replace(/^house /, "") : name;
}
