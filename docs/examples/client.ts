// A bot in TypeScript for every game, which connects to a server with the package kibitz-client.
// Node.js 22.18 or newer runs it directly; for Node.js 22, compile it with `npx tsc`.
//
//     kibitz play line-nim line-nim/random -- node docs/examples/client.ts
import { readFileSync } from "node:fs";
import { Connection } from "kibitz-client";
import type { Pick, ServerMessage, Welcome, YourTurn } from "kibitz-client/messages";

/** Choose one of the legal actions. Put your ideas here. */
function choose(picks: Pick[]): Pick["action"] {
  return picks[Math.floor(Math.random() * picks.length)].action;
}

// `kibitz play` has registered the player; its secret is read once, to the end.
const { KIBITZ_SERVER, KIBITZ_LOBBY, KIBITZ_RESUME_FD } = process.env;
let secret: string | null = readFileSync(Number(KIBITZ_RESUME_FD), "utf8");
const storage = {
  getItem: () => secret,
  setItem: (_key: string, value: string) => void (secret = value),
  removeItem: () => void (secret = null),
};

const connection = new Connection({ url: KIBITZ_SERVER ?? "ws://127.0.0.1:8765", kind: "bot", storage });

function move({ match, ply, picks }: YourTurn): void {
  const action = choose(picks ?? []);
  connection.request({ type: "move", match, ply, action }).catch(report);
}

/** Ask for the matches again after the connection was lost. */
function resume({ seats }: Welcome): void {
  for (const match of seats) connection.request({ type: "rejoin", match }).catch(report);
}

function report(error: Error): void {
  console.error(error.message);
}

connection.addEventListener("welcome", (event) => resume((event as CustomEvent<Welcome>).detail));
connection.addEventListener("news", (event) => {
  const message = (event as CustomEvent<ServerMessage>).detail;
  if (message.type === "your_turn") move(message);
  if (message.type === "lobby_closed") connection.close();
});

await connection.open();
await connection.request({ type: "join", lobby: KIBITZ_LOBBY });
await connection.request({ type: "ready", lobby: KIBITZ_LOBBY });
