// The protocol of benchmarks/reference.py on the package ws.

import { WebSocketServer } from "ws";

import { Board, announce } from "./board.mjs";

const tables = new Map();

function tell({ seats, watchers }, message) {
  const data = Buffer.from(JSON.stringify(message));
  for (const socket of seats) socket.send(data, { binary: false });
  for (const socket of watchers) socket.send(data, { binary: false });
}

function begin(match, table) {
  table.board.clear();
  tell(table, { type: "moved", match, ply: 0, seat: -1, x: -1, y: -1 });
}

function enter(socket, { type, match }) {
  if (!tables.has(match)) tables.set(match, { board: new Board(), seats: [], watchers: [] });
  const table = tables.get(match);
  if (type === "watch") {
    table.watchers.push(socket);
  } else {
    table.seats.push(socket);
    if (table.seats.length === 2) begin(match, table);
  }
}

function move(socket, request) {
  const { match, x, y } = request;
  const table = tables.get(match);
  const seat = table ? table.seats.indexOf(socket) : -1;
  const fault = seat < 0 ? "not your match" : table.board.fault(seat, request);
  if (fault) {
    socket.send(JSON.stringify({ type: "refused", message: fault }));
    return;
  }
  const result = table.board.play(x, y);
  if (!result) {
    tell(table, { type: "moved", match, ply: table.board.ply, seat, x, y });
    return;
  }
  tell(table, { type: "finished", match, ...result });
  begin(match, table);
}

function received(socket, data) {
  let request;
  try {
    request = JSON.parse(data);
  } catch {
    socket.send(JSON.stringify({ type: "refused", message: "not JSON" }));
    return;
  }
  if (request?.type === "move") move(socket, request);
  else if (["sit", "watch"].includes(request?.type)) enter(socket, request);
  else socket.send(JSON.stringify({ type: "refused", message: "unknown type" }));
}

const server = new WebSocketServer({ host: "127.0.0.1", port: 0, perMessageDeflate: false, maxPayload: 16384 });
server.on("connection", (socket) => socket.on("message", (data) => received(socket, data)));
server.on("listening", () => announce(server.address().port));
