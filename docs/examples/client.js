// A client for any game that uses only the protocol: it joins a lobby, plays random legal actions, and
// follows the lobby, the hall and the drawing of each of its matches. It needs Node.js 22.
//
//     kibitz play line-nim line-nim/random -- node docs/examples/client.js
//     node docs/examples/client.js ws://127.0.0.1:8765 LOBBY NAME
//
// It prints a line of JSON when a match begins or ends. At the end it prints the final state of the
// lobby, the hall and the drawings.
"use strict";

const { readFileSync } = require("node:fs");

/** Choose one of the legal actions. Put your ideas here. */
function choose(picks) {
  return picks[Math.floor(Math.random() * picks.length)].action;
}

class Connection {
  #socket;
  #id = 0;
  #unanswered = new Map();

  /** Connect to a server; `onNews` gets every message that is not an answer. */
  constructor(url, onNews) {
    this.onNews = onNews;
    this.#socket = new WebSocket(url);
    this.closed = new Promise((resolve) => this.#socket.addEventListener("close", resolve));
    this.#socket.addEventListener("message", (event) => this.#receive(JSON.parse(event.data)));
  }

  async open() {
    await new Promise((resolve, reject) => {
      this.#socket.addEventListener("open", resolve, { once: true });
      this.#socket.addEventListener("error", () => reject(new Error("no server answers")), { once: true });
    });
  }

  /** Send a request; resolves to its answer, and rejects if the server refuses it. */
  ask(type, fields = {}) {
    this.#id += 1;
    const id = this.#id;
    this.#socket.send(JSON.stringify({ type, id, ...fields }));
    return new Promise((resolve, reject) => this.#unanswered.set(id, { resolve, reject }));
  }

  close() {
    this.#socket.close();
  }

  #receive(message) {
    const waiting = this.#unanswered.get(message.re);
    if (waiting === undefined) {
      if (message.re === undefined) this.onNews(message);
      return;
    }
    this.#unanswered.delete(message.re);
    if (message.type === "refused") waiting.reject(new Error(`${message.code}: ${message.message}`));
    else waiting.resolve(message);
  }
}

/** Apply a JSON Merge Patch. */
function apply(target, patch) {
  if (!isObject(patch)) return patch;
  const next = isObject(target) ? { ...target } : {};
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) delete next[name];
    else next[name] = apply(next[name], value);
  }
  return next;
}

function isObject(value) {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

class Player {
  lobby = null;
  hall = null;
  /** Each match's drawing, and the number of the last entry in the drawing. */
  matches = new Map();

  /** `who` is the player's name, or the secret of one who is already registered. */
  constructor(url, lobby, who) {
    this.key = lobby;
    this.who = who;
    this.connection = new Connection(url, (message) => this.#follow(message));
    this.over = new Promise((resolve) => { this.end = resolve; });
  }

  async play() {
    const { connection } = this;
    await connection.open();
    // `drawn` requests drawings, and lists the legal actions of every game.
    const hello = { versions: [1], ...this.who, kind: "bot", agent: "client.js", views: "drawn" };
    await connection.ask("hello", hello);
    await connection.ask("subscribe", { topic: "hall" }).catch(report); // an event's server refuses it
    await connection.ask("join", { lobby: this.key });
    await connection.ask("ready", { lobby: this.key });
    await Promise.race([this.over, connection.closed]);
    const stages = Object.fromEntries([...this.matches].map(([key, match]) => [key, match.stage]));
    write({ lobby: this.lobby, hall: this.hall, stages });
    connection.close();
  }

  #follow(message) {
    switch (message.type) {
      case "hall":
        this.hall = message;
        break;
      case "hall_changed":
        this.hall = apply(this.hall, message.patch);
        break;
      case "lobby":
        this.lobby = message.lobby;
        break;
      case "lobby_changed":
        this.#patchLobby(message.lobby, message.patch);
        break;
      case "match_started":
        this.#patchLobby(message.lobby, { live: { [message.match.match]: message.match } });
        break;
      case "match_ended":
        this.#patchLobby(message.lobby, { live: { [message.match.match]: null } });
        break;
      case "lobby_closed":
        this.end();
        break;
      default:
        this.#followMatch(message);
    }
    const listed = this.hall?.lobbies[this.key];
    if (this.lobby?.state === "finished" && listed?.state === "finished") this.end();
  }

  #patchLobby(key, patch) {
    if (this.lobby?.lobby === key) this.lobby = apply(this.lobby, patch);
  }

  #followMatch(message) {
    const key = message.match;
    const match = this.matches.get(key);
    if (message.type === "snapshot") {
      this.matches.set(key, { seq: message.seq, stage: message.stage, lost: false });
      if (message.why === "started") write({ begins: key, seat: message.you });
    } else if (message.type === "event" && match) {
      this.#followEvent(match, message);
    } else if (message.type === "your_turn") {
      this.#move(message);
    } else if (message.type === "finished" && match) {
      match.stage = message.stage ?? match.stage;
      write({ ends: key, cause: message.result.cause });
    }
  }

  #followEvent(match, { match: key, entry, patch }) {
    if (match.lost || entry.seq <= match.seq) return;
    if (entry.seq > match.seq + 1) { // An event was lost: request a snapshot of the current state.
      match.lost = true;
      this.connection.ask("rejoin", { match: key }).catch(report);
      return;
    }
    match.seq = entry.seq;
    if (patch) match.stage = apply(match.stage, patch);
  }

  #move({ match, ply, picks }) {
    this.connection.ask("move", { match, ply, action: choose(picks) }).catch(report);
  }
}

function write(line) {
  console.log(JSON.stringify(line));
}

function report(error) {
  console.error(error.message);
}

const { KIBITZ_SERVER, KIBITZ_LOBBY, KIBITZ_RESUME_FD } = process.env;
const [url = KIBITZ_SERVER, lobby = KIBITZ_LOBBY, name] = process.argv.slice(2);
const who = name ? { name } : { resume: readFileSync(Number(KIBITZ_RESUME_FD), "utf8") };
new Player(url, lobby, who).play().catch((error) => {
  report(error);
  process.exitCode = 1;
});
