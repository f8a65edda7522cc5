// A bot in TypeScript, for every game, without packages:
// tsc --strict --target es2022 docs/examples/bot.ts
// kibitz play line-nim line-nim/random --stdio -- node docs/examples/bot.js
export {};

type Move = Record<string, number | string>;
interface Turn {
  type: "turn";
  ply: number;
  seat: number;
  view: { board?: string[] };
  legal: Move[] | null; // null where the server says in words what is legal
  legal_rule: string | null;
  ms: number;
}
type Message = { type: "start" | "end" } | Turn;

// The part of Node's own types that this bot needs.
declare const process: {
  stdin: { setEncoding(name: "utf8"): void; on(event: "data", hear: (text: string) => void): void };
  stdout: { write(text: string): void };
};

function emptyCells(board: string[]): Move[] {
  return board.flatMap((row, y) => [...row].flatMap((cell, x) => (cell === "." ? [{ x, y }] : [])));
}

function choose(turn: Turn): Move {
  const moves = turn.legal ?? emptyCells(turn.view.board ?? []);
  return moves[Math.floor(Math.random() * moves.length)]!;
}

let rest = "";
process.stdin.setEncoding("utf8");
process.stdin.on("data", (text) => {
  const lines = (rest + text).split("\n");
  rest = lines.pop() ?? "";
  for (const line of lines) {
    const message = JSON.parse(line) as Message;
    if (message.type === "turn") process.stdout.write(JSON.stringify(choose(message)) + "\n");
  }
});
