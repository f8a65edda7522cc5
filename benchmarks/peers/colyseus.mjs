// One Colyseus room per match. Moves are messages; a synchronized state would be sent 20 times a
// second at most.

import { Room, Server } from "@colyseus/core";
import { WebSocketTransport } from "@colyseus/ws-transport";

import { Board, announce } from "./board.mjs";

class FiveInARow extends Room {
  onCreate() {
    this.board = new Board();
    this.seats = [];
    this.setPatchRate(null);
    this.onMessage("move", (client, move) => this.move(client, move));
  }

  onJoin(client, { watch }) {
    if (watch) return;
    this.seats.push(client.sessionId);
    if (this.seats.length === 2) this.begin();
  }

  begin() {
    this.board.clear();
    this.broadcast("moved", { ply: 0, seat: -1, x: -1, y: -1 });
  }

  move(client, move) {
    const seat = this.seats.indexOf(client.sessionId);
    const fault = this.board.fault(seat, move);
    if (fault) {
      client.send("refused", { message: fault });
      return;
    }
    const { x, y } = move;
    const result = this.board.play(x, y);
    if (!result) {
      this.broadcast("moved", { ply: this.board.ply, seat, x, y });
      return;
    }
    this.broadcast("finished", result);
    this.begin();
  }
}

const transport = new WebSocketTransport({ perMessageDeflate: false });
const server = new Server({ transport, greet: false });
server.define("five", FiveInARow).filterBy(["match"]);
await server.listen(0, "127.0.0.1");
announce(transport.server.address().port);
