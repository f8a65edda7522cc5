// Five in a row on 10 x 10, with the rules of benchmarks/reference.py.

export const SIZE = 10;
const ROW = 5;
const DIRECTIONS = [[1, 0], [0, 1], [1, 1], [1, -1]];

export class Board {
  constructor() {
    this.clear();
  }

  clear() {
    this.cells = new Int8Array(SIZE * SIZE);
    this.ply = 0;
  }

  /** Return why a move is refused, or an empty string. */
  fault(seat, { ply, x, y }) {
    const fits = Number.isInteger(x) && Number.isInteger(y) && x >= 0 && x < SIZE && y >= 0 && y < SIZE;
    if (!fits) return "not a cell";
    if (seat !== this.ply % 2 || ply !== this.ply) return "not your turn";
    return this.cells[y * SIZE + x] ? "illegal" : "";
  }

  /** Place the mover's stone; return the result if that ended the match. */
  play(x, y) {
    const seat = this.ply % 2;
    this.cells[y * SIZE + x] = seat + 1;
    this.ply += 1;
    if (wins(this.cells, x, y)) return { winner: seat };
    return this.ply === SIZE * SIZE ? { winner: null } : null;
  }
}

/** Return whether the stone at a cell is part of a row. */
export function wins(cells, x, y) {
  const own = cells[y * SIZE + x];
  for (const [dx, dy] of DIRECTIONS) {
    let count = 1;
    for (const sign of [1, -1]) {
      let [cx, cy] = [x + sign * dx, y + sign * dy];
      while (cx >= 0 && cx < SIZE && cy >= 0 && cy < SIZE && cells[cy * SIZE + cx] === own) {
        count += 1;
        [cx, cy] = [cx + sign * dx, cy + sign * dy];
      }
    }
    if (count >= ROW) return true;
  }
  return false;
}

/** Print the address in the format of `kibitz serve --json`. */
export function announce(port) {
  console.log(JSON.stringify({ url: `ws://127.0.0.1:${port}/ws` }));
}
