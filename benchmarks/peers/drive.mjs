// Players or spectators of Colyseus and boardgame.io, which have clients for JavaScript only.
//
//     node drive.mjs colyseus|boardgame PORT play MATCHES INTERVAL_S
//     node drive.mjs colyseus|boardgame PORT watch COUNT [MATCH]
//
// Prints "ready" and, for players of boardgame.io, the key of the first match. Lines on standard
// input begin and end a measurement, whose figures are printed as JSON (see benchmarks/crowd.py).

import { createInterface } from "node:readline";

import { Board, SIZE } from "./board.mjs";

const [kind, port, role, count, last] = process.argv.slice(2);
const meter = { running: false, moves: 0, deliveries: 0, latencies: [], sent_at: {}, heard_at: {} };

/** Return the seconds of the monotonic clock, which all processes share. */
function now() {
  return Number(process.hrtime.bigint()) / 1e9;
}

/** Measures a seat's moves; moves at once, or at its match's next beat. */
class Seat {
  /** @param {number} seat @param {boolean} watched @param {(ply: number, cell: number) => void} send */
  constructor(seat, watched, send) {
    Object.assign(this, { seat, watched, send, interval: Number(last), beat: 0, sent: 0 });
  }

  /** Take note of a position after `ply` plies, where empty cells are 0. */
  reached(ply, cells) {
    if (ply % 2 !== this.seat) this.acknowledge();
    else this.act(ply, cells.indexOf(0));
  }

  acknowledge() {
    if (meter.running && this.sent) {
      meter.moves += 1;
      meter.latencies.push(now() - this.sent);
    }
    this.sent = 0;
  }

  act(ply, cell) {
    const go = () => {
      this.sent = now();
      if (this.watched && meter.running) meter.sent_at[ply] = this.sent;
      this.send(ply, cell);
    };
    if (!this.interval) {
      go();
      return;
    }
    const at = now();
    this.beat = Math.max(this.beat + 2 * this.interval, at);
    if (this.beat === at) this.beat += Math.random() * this.interval;
    setTimeout(go, 1000 * (this.beat - at));
  }
}

/** Note that a spectator has the move at a ply. */
function heard(ply) {
  if (!meter.running) return;
  meter.deliveries += 1;
  meter.heard_at[ply] = now();
}

const DRIVERS = {
  async colyseus() {
    const { Client } = await import("colyseus.js");
    const client = new Client(`ws://127.0.0.1:${port}`);
    const enter = (match, watch) => client.joinOrCreate("five", { match: String(match), watch });
    return {
      async play(match) {
        for (const seat of [0, 1]) {
          const room = await enter(match, false);
          const player = new Seat(seat, match === 0, (ply, cell) =>
            room.send("move", { ply, x: cell % SIZE, y: Math.floor(cell / SIZE) }));
          const board = new Board();
          room.onMessage("moved", ({ ply, x, y }) => {
            if (ply === 0) board.clear();
            else board.cells[y * SIZE + x] = 1;
            player.reached(ply, board.cells);
          });
          room.onMessage("finished", () => player.acknowledge());
          room.onMessage("refused", refused);
        }
      },
      async watch() {
        const room = await enter(0, true);
        room.onMessage("moved", ({ ply }) => heard(ply - 1));
        room.onMessage("finished", () => {});
      },
    };
  },

  async boardgame() {
    const [{ Client }, { SocketIO }] = await Promise.all([
      import("boardgame.io/dist/cjs/client.js"), import("boardgame.io/dist/cjs/multiplayer.js"),
    ]);
    const { FiveInARow: game } = await import("./boardgame_rules.mjs");
    const server = `http://127.0.0.1:${port}`;
    const multiplayer = SocketIO({ server, socketOpts: { transports: ["websocket"] } });
    const create = async () => {
      const asked = { method: "POST", headers: { "Content-Type": "application/json" }, body: '{"numPlayers":2}' };
      return (await (await fetch(`${server}/games/five/create`, asked)).json()).matchID;
    };
    const follow = (matchID, playerID, changed) => {
      const client = Client({ game, multiplayer, matchID, playerID, debug: false, numPlayers: 2 });
      let seen = -1;
      client.subscribe((state) => {
        const ply = state ? (state.ctx.gameover ? state.ctx.turn : state.ctx.turn - 1) : -1;
        if (!state?.isConnected || ply === seen) return;
        seen = ply;
        changed(ply, state);
      });
      client.start();
      return client;
    };
    return {
      async play(match) {
        const first = await create();
        if (match === 0) console.log(first);
        const seats = [0, 1].map((seat) => {
          const player = new Seat(seat, match === 0, (_, cell) =>
            setImmediate(() => joined.moves.place(cell))); // not within the update of the store
          const joined = follow(first, String(seat), (ply, { G, ctx }) => {
            if (!ctx.gameover) player.reached(ply, G.cells);
            else {
              player.acknowledge();
              if (seat === 0) void create().then(next);
            }
          });
          return joined;
        });
        const next = (matchID) => {
          for (const client of seats) client.updateMatchID(matchID);
        };
      },
      async watch() {
        follow(last, undefined, (ply) => heard(ply - 1));
      },
    };
  },
};

function refused({ message }) {
  throw new Error(`the server refused a move: ${message}`);
}

/** Return the given quantiles of sorted numbers. */
function quantiles(sorted, parts) {
  return parts.map((part) => sorted[Math.min(sorted.length - 1, Math.floor(part * sorted.length))]);
}

function toggle() {
  meter.running = !meter.running;
  if (meter.running) {
    Object.assign(meter, { moves: 0, deliveries: 0, latencies: [], sent_at: {}, heard_at: {} });
    return;
  }
  const { moves, deliveries, sent_at, heard_at } = meter;
  const latencies = Float64Array.from(meter.latencies).sort();
  console.log(JSON.stringify({ moves, deliveries, latencies_s: quantiles(latencies, [0.5, 0.95, 0.99]), sent_at, heard_at }));
}

const driver = await DRIVERS[kind]();
for (let number = 0; number < Number(count); number += 1) {
  await (role === "play" ? driver.play(number) : driver.watch());
}
console.log("ready");
createInterface({ input: process.stdin }).on("line", toggle).on("close", () => process.exit());
