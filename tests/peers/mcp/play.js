// Plays a match through the tools of `kibitz mcp`, like an agent. The only argument is an object with
// the server's `command` and `args` and the `lobby` to join, null if there is no kibitz server. The
// output of all steps is printed as one object.
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";

const { command, args, lobby } = JSON.parse(process.argv[2]);
const client = new Client({ name: "peer", version: "1" });
await client.connect(new StdioClientTransport({ command, args, env: process.env }));

async function call(name, parameters = {}) {
  const result = await client.callTool({ name, arguments: parameters });
  return { failed: result.isError === true, text: result.content.map((each) => each.text).join("\n") };
}

const said = {
  server: client.getServerVersion().name,
  tools: (await client.listTools()).tools.map((each) => each.name),
  games: await call("list_games"),
  lobbies: await call("list_lobbies"),
};
if (lobby !== null) {
  said.joined = await call("join_lobby", { lobby });
  for (said.plies = 0; ; said.plies++) {
    said.end = await call("wait_for_turn", { seconds: 50 });
    const legal = said.end.text.match(/^match (\S+):[^]*^legal moves: (\S+)/m);
    if (said.end.failed || legal === null) break;
    said.played = await call("play", { match: legal[1], move: legal[2] });
  }
}
console.log(JSON.stringify(said));
await client.close();
