// A bot in TypeScript for every game that lists its legal moves. Node.js 22.18 or newer runs it
// directly; for older versions, compile it with `npx tsc`.
//
//   kibitz play line-nim line-nim/random --stdio -- node docs/examples/bot.ts
import { createInterface } from "node:readline";

/** A move; `kibitz game show NAME --json` describes the fields for each game. */
type Move = Record<string, unknown>;

interface Turn {
  type: "turn";
  ply: number;
  seat: number;
  /** The position, as `kibitz game show NAME --json` describes it. */
  view: Record<string, unknown>;
  /** Null if the server describes the legal moves in words. */
  legal: Move[] | null;
  legal_rule: string | null;
  /** Milliseconds to think. */
  ms: number;
  /** The reason why the previous answer was refused, if it was. */
  refused: string | null;
}

type Message = Turn | { type: "start" } | { type: "end" };

/** Choose a move. Put your ideas here. */
function choose(_turn: Turn, legal: Move[]): Move {
  return legal[Math.floor(Math.random() * legal.length)];
}

for await (const line of createInterface({ input: process.stdin })) {
  const message = JSON.parse(line) as Message;
  if (message.type !== "turn") continue;
  if (message.legal === null) throw new Error("this game lists no legal moves");
  console.log(JSON.stringify(choose(message, message.legal)));
}
