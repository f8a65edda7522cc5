// Adapter that lets MarbleFish play over JSON lines (docs/how-to/programs.md), on the 9x9 rhombus.
//
// MarbleFish (https://github.com/arthur-x/MarbleFish, by arthur-x, MIT) is an alpha-beta search with
// a beam, written for a web page. It is not part of kibitz: set MARBLEFISH to the path of its
// src/ai.js. Its levels are the depths 2, 4 and 6:
//
//     MARBLEFISH=MarbleFish/src/ai.js node benchmarks/foreign/marblefish.mjs 4
import { readFile } from "node:fs/promises";
import { createInterface } from "node:readline";

const SIZE = 17; // side length of MarbleFish's square array, which holds the rhombus on its tip
const VOID = -1, EMPTY = 0, OWN = 1, OTHER = 2;

// The holes in the order of their numbers: row by row, from the top.
const HOLES = [];
for (let row = 0; row < SIZE; row++)
  for (let column = 0; column < SIZE; column++)
    if ((row + column) % 2 === 0 && Math.abs(row - 8) + Math.abs(column - 8) <= 8)
      HOLES.push([row, column]);
const NUMBER = new Map(HOLES.map(([row, column], hole) => [row * SIZE + column, hole]));

// MarbleFish always plays from top to bottom; for the other seat, the board is rotated.
const turned = (hole, seat) => (seat === 0 ? hole : HOLES.length - 1 - hole);

function board(view, seat) {
  const cells = Array.from({ length: SIZE }, () => new Array(SIZE).fill(VOID));
  for (const [row, column] of HOLES) cells[row][column] = EMPTY;
  view.pegs.forEach((pegs, owner) => {
    for (const peg of pegs) {
      const [row, column] = HOLES[turned(peg, seat)];
      cells[row][column] = owner === seat ? OWN : OTHER;
    }
  });
  return cells;
}

const file = process.env.MARBLEFISH, depth = Number(process.argv[2] ?? 2);
const fail = (reason) => {
  console.error(reason);
  process.exit(2);
};
if (!file) fail("MARBLEFISH must say where src/ai.js of MarbleFish lies");
const source = await readFile(file, "utf8").catch((error) => fail(`MARBLEFISH: ${error.message}`));
// The search was written for a web worker: it sets onmessage and calls postMessage.
let answer;
globalThis.onmessage = null;
globalThis.postMessage = (found) => (answer = found);
await import("data:text/javascript," + encodeURIComponent(source));

for await (const line of createInterface({ input: process.stdin })) {
  const message = JSON.parse(line);
  if (message.type !== "turn") continue;
  const { view, seat } = message;
  globalThis.onmessage({ data: { snapshot: board(view, seat), depth } });
  const number = ([row, column]) => turned(NUMBER.get(row * SIZE + column), seat);
  const move = { from: number(answer.path[0]), to: number(answer.path.at(-1)) };
  console.log(JSON.stringify({ action: move, comment: { value: answer.v, depth } }));
}
