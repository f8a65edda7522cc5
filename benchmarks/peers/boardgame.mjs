// A boardgame.io server, with its storage in memory.

import boardgame from "boardgame.io/dist/cjs/server.js";

import { announce } from "./board.mjs";
import { FiveInARow } from "./boardgame_rules.mjs";

const server = boardgame.Server({ games: [FiveInARow], origins: [boardgame.Origins.LOCALHOST] });
const listen = server.app.listen.bind(server.app);
server.app.listen = (port, done) => listen(port, "127.0.0.1", done); // not on every address
const { appServer } = await server.run({ port: 0 });
announce(appServer.address().port);
