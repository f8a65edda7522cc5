// Five in a row as a game of boardgame.io, for its server and its clients.

import core from "boardgame.io/dist/cjs/core.js";

import { SIZE, wins } from "./board.mjs";

export const FiveInARow = {
  name: "five",
  setup: () => ({ cells: Array(SIZE * SIZE).fill(0), last: -1 }),
  turn: { minMoves: 1, maxMoves: 1 },
  moves: {
    place: {
      client: false, // wait for the server, so that a latency can be measured
      move: ({ G, playerID }, cell) => {
        if (!Number.isInteger(cell) || G.cells[cell] !== 0) return core.INVALID_MOVE;
        G.cells[cell] = Number(playerID) + 1;
        G.last = cell;
      },
    },
  },
  endIf: ({ G, ctx }) => {
    if (G.last < 0) return undefined;
    const [x, y] = [G.last % SIZE, Math.floor(G.last / SIZE)];
    if (wins(G.cells, x, y)) return { winner: Number(ctx.currentPlayer) };
    return G.cells.includes(0) ? undefined : { winner: null };
  },
};
