import assert from "node:assert/strict";
import { beforeEach, mock, test } from "node:test";
import { use } from "./use.mjs";

const { Connection, Refusal } = await use("wire/connection.js");
const URL_ = "ws://games.example:8765/ws";
const LIMITS = { frame_bytes: 16384, messages_per_second: 20, burst: 40, lobbies: 4 };

/** A fake WebSocket controlled by the test. */
class FakeSocket {
  static all = [];
  sent = [];
  closed = false;

  constructor(url) {
    this.url = url;
    FakeSocket.all.push(this);
  }

  static get last() {
    return FakeSocket.all.at(-1);
  }

  send(text) {
    this.sent.push(JSON.parse(text));
  }

  close() {
    this.closed = true;
  }

  says(message) {
    this.onmessage?.({ data: JSON.stringify(message) });
  }

  /** Take the messages sent since the last call. */
  take() {
    return this.sent.splice(0);
  }

  welcomes(fields = {}) {
    this.onopen();
    const [hello] = this.take();
    this.says({
      type: "welcome", re: hello.id, version: 1, player: "p", name: "ada", kind: "human",
      resume: "the-secret", server: "kibitz", limits: LIMITS, seats: [], lobbies: [], ...fields,
    });
    return hello;
  }
}

class FakeStore {
  kept = new Map();
  getItem(key) {
    return this.kept.get(key) ?? null;
  }
  setItem(key, value) {
    this.kept.set(key, value);
  }
  removeItem(key) {
    this.kept.delete(key);
  }
}

beforeEach(() => {
  FakeSocket.all = [];
  globalThis.WebSocket = FakeSocket;
  mock.timers.reset();
  mock.timers.enable({ apis: ["setTimeout", "Date"], now: 1_000_000 });
});

function connection(hello = { name: "ada" }, storage = new FakeStore()) {
  return { made: new Connection({ url: URL_, hello, storage }), storage };
}

test("hello, and the secret for coming back", async () => {
  const { made, storage } = connection();
  const opened = made.open();
  assert.equal(made.state, "away");
  const hello = FakeSocket.last.welcomes();
  assert.deepEqual([hello.kind, hello.views, hello.name], ["human", "drawn", "ada"]);
  assert.equal((await opened).name, "ada");
  assert.equal(made.state, "online");
  assert.deepEqual([...storage.kept], [["kibitz.resume.games.example:8765", "the-secret"]]);
});

test("who was here before comes with the secret, and with a token comes as its owner", async () => {
  const { made, storage } = connection();
  void made.open();
  FakeSocket.last.welcomes();
  const again = new Connection({ url: URL_, storage });
  assert.equal(again.knowsWho, true);
  void again.open();
  const hello = FakeSocket.last.welcomes();
  assert.deepEqual([hello.resume, hello.name, hello.token], ["the-secret", undefined, undefined]);
  const owner = new Connection({ url: URL_, hello: { token: "a-token" }, storage });
  void owner.open();
  const other = FakeSocket.last.welcomes();
  assert.deepEqual([other.token, other.resume], ["a-token", undefined]);
});

test("without a name or a secret it comes as a viewer, who signs in on a new socket", async () => {
  const { made, storage } = connection({});
  const opened = made.open();
  const hello = FakeSocket.last.welcomes({ viewer: true, name: "viewer", resume: "" });
  assert.deepEqual([hello.viewer, hello.name], [true, undefined]);
  await opened;
  assert.deepEqual([made.isViewer, storage.kept.size], [true, 0]);
  const viewing = FakeSocket.last;
  const lost = assert.rejects(made.request({ type: "list_games" }), (error) => error.code === "closed");
  const signed = made.signIn({ name: "ada" });
  await lost;
  assert.notEqual(FakeSocket.last, viewing);
  assert.deepEqual([FakeSocket.last.welcomes().name, (await signed).name, made.isViewer], ["ada", "ada", false]);
});

test("a viewer whose connection breaks comes back as a viewer", async () => {
  const { made } = connection({});
  void made.open();
  FakeSocket.last.welcomes({ viewer: true, name: "viewer", resume: "" });
  FakeSocket.last.onclose({ code: 1006, reason: "" });
  mock.timers.tick(6_000);
  assert.equal(FakeSocket.last.welcomes().viewer, true);
});

test("answers find their requests, in any order, and refusals reject", async () => {
  const { made } = connection();
  void made.open();
  const socket = FakeSocket.last;
  socket.welcomes();
  const first = made.request({ type: "list_games" });
  const second = made.request({ type: "join", lobby: "x" });
  const [one, two] = socket.take();
  assert.ok(two.id > one.id);
  socket.says({ type: "refused", re: two.id, code: "full", message: "no room", hint: "wait" });
  socket.says({ type: "games", re: one.id, games: [] });
  assert.deepEqual((await first).games, []);
  await assert.rejects(second, (error) => error instanceof Refusal && error.code === "full" && error.hint === "wait");
});

test("after a loss: a growing pause, the secret, rejoins, then what had no answer", async () => {
  const { made } = connection();
  void made.open();
  FakeSocket.last.welcomes();
  const move = made.request({ type: "move", match: "m1", ply: 3, action: {} });
  const hosting = made.request({ type: "host", settings: {} });
  const sent = FakeSocket.last.take();
  FakeSocket.last.onclose({ code: 1006, reason: "" });
  assert.equal(made.state, "away");
  assert.equal(FakeSocket.all.length, 1);
  mock.timers.tick(200);
  assert.equal(FakeSocket.all.length, 2);
  made.addEventListener("welcome", () => void made.request({ type: "rejoin", match: "m1" }));
  const hello = FakeSocket.last.welcomes({ seats: ["m1"] });
  assert.equal(hello.resume, "the-secret");
  const [rejoin, ...again] = FakeSocket.last.take();
  assert.equal(rejoin.type, "rejoin");
  assert.deepEqual(again, sent);
  FakeSocket.last.says({ type: "done", re: again[0].id, seq: 4 });
  FakeSocket.last.says({ type: "done", re: again[1].id, lobby: "x" });
  assert.equal((await move).seq, 4);
  assert.equal((await hosting).lobby, "x");
});

test("pauses grow, with chance in them, and end with a bound", () => {
  const { made } = connection();
  made.open().catch(() => {});
  const pauses = [];
  for (let i = 0; i < 9; i++) {
    FakeSocket.last.onclose({ code: 1006, reason: "" });
    pauses.push(made.retryAt - Date.now());
    mock.timers.tick(Math.ceil(pauses.at(-1)));
    assert.equal(FakeSocket.all.length, i + 2);
  }
  assert.ok(pauses[0] <= 150 && pauses[0] >= 75);
  assert.ok(pauses.every((pause) => pause <= 5_000));
  assert.ok(pauses.at(-1) >= 2_500);
});

test("a farewell says how long to stay away", () => {
  const { made } = connection();
  void made.open();
  FakeSocket.last.welcomes();
  FakeSocket.last.says({ type: "farewell", code: "unavailable", message: "bye", retry_after_ms: 3_000 });
  FakeSocket.last.onclose({ code: 1012, reason: "" });
  made.retryNow();
  mock.timers.tick(2_900);
  assert.equal(FakeSocket.all.length, 1);
  mock.timers.tick(400);
  assert.equal(FakeSocket.all.length, 2);
});

test("a seat that another window took is left to it", async () => {
  const { made } = connection();
  void made.open();
  FakeSocket.last.welcomes();
  const asked = assert.rejects(made.request({ type: "list_games" }), (error) => error.code === "replaced");
  FakeSocket.last.onclose({ code: 4000, reason: "" });
  await asked;
  mock.timers.tick(60_000);
  assert.deepEqual([made.state, FakeSocket.all.length], ["ended", 1]);
  await assert.rejects(made.request({ type: "list_games" }));
  const back = made.open();
  assert.equal(FakeSocket.last.welcomes().resume, "the-secret");
  await back;
});

test("a secret that is not known any more is forgotten", async () => {
  const { made, storage } = connection({});
  storage.setItem("kibitz.resume.games.example:8765", "an-old-secret");
  const opened = assert.rejects(made.open(), (error) => error.code === "unauthorized");
  FakeSocket.last.onopen();
  const [hello] = FakeSocket.last.take();
  FakeSocket.last.says({ type: "refused", re: hello.id, code: "unauthorized", message: "who?" });
  await opened;
  assert.deepEqual([storage.kept.size, made.knowsWho, made.state], [0, false, "ended"]);
});

test("a server that is busy is asked again later", () => {
  const { made } = connection();
  void made.open();
  FakeSocket.last.onopen();
  const [hello] = FakeSocket.last.take();
  FakeSocket.last.says({ type: "refused", re: hello.id, code: "unavailable", message: "", retry_after_ms: 500 });
  assert.equal(made.state, "away");
  mock.timers.tick(800);
  assert.equal(FakeSocket.all.length, 2);
});

test("a request that came too fast is sent again, unless the wait is long", async () => {
  const { made } = connection();
  void made.open();
  const socket = FakeSocket.last;
  socket.welcomes();
  const listing = made.request({ type: "list_games" });
  const kicking = assert.rejects(made.request({ type: "kick", lobby: "x", player: "y" }));
  const hosting = assert.rejects(made.request({ type: "host", settings: {} }));
  const [list, kick, host] = socket.take();
  socket.says({ type: "refused", re: host.id, code: "unavailable", message: "nothing new now" });
  await hosting;
  const refusal = { type: "refused", code: "rate_limited", message: "slow", retry_after_ms: 1 };
  socket.says({ ...refusal, re: kick.id, retry_after_ms: 60_000 });
  await kicking;
  socket.says({ ...refusal, re: list.id });
  assert.equal((await nextSent(socket)).id, list.id);
  socket.says({ type: "games", re: list.id, games: [] });
  await listing;
});

test("a request whose log entry was lost is sent again", async () => {
  const { made } = connection();
  void made.open();
  const socket = FakeSocket.last;
  socket.welcomes();
  const resigning = made.request({ type: "resign", match: "m" });
  const [resign] = socket.take();
  socket.says({ type: "refused", re: resign.id, code: "unavailable", message: "", retry_after_ms: 1 });
  assert.equal((await nextSent(socket)).id, resign.id);
  socket.says({ type: "done", re: resign.id });
  await resigning;
});

const PLACES = [["rejoin", "not_seated", ["move", "resign", "leave_match", "note"]], ["watch", "wrong_state", ["comment"]]];
for (const [place, code, types] of PLACES) {
  for (const type of types) {
    for (const late of [false, true]) {
      test(`a ${type} that overtook its ${place} waits for it, refused ${late ? "after" : "before"} the retry`, async () => {
        const { made } = connection();
        void made.open();
        const socket = FakeSocket.last;
        socket.welcomes();
        const placing = made.request({ type: place, match: "m" });
        const asking = made.request({ type, match: "m" });
        const [first, asked] = socket.take();
        socket.says({ type: "refused", re: first.id, code: "unavailable", message: "", retry_after_ms: 1 });
        if (late) assert.equal((await nextSent(socket)).id, first.id);
        socket.says({ type: "refused", re: asked.id, code, message: "no place here" });
        if (!late) assert.equal((await nextSent(socket)).id, first.id);
        mock.timers.tick(500);
        assert.deepEqual(socket.take(), []);
        socket.says({ type: "done", re: first.id });
        await placing;
        assert.equal((await nextSent(socket)).id, asked.id);
        socket.says({ type: "refused", re: asked.id, code, message: "no place here" });
        await assert.rejects(asking, (error) => error.code === code);
      });
    }
  }
}

test("a request that waits for its rejoin is sent on the next socket", async () => {
  const { made } = connection();
  void made.open();
  FakeSocket.last.welcomes();
  void made.request({ type: "rejoin", match: "m" });
  const moving = made.request({ type: "move", match: "m", ply: 3, action: {} });
  const sent = FakeSocket.last.take();
  FakeSocket.last.says({ type: "refused", re: sent[1].id, code: "not_seated", message: "" });
  FakeSocket.last.onclose({ code: 1006, reason: "" });
  mock.timers.tick(200);
  FakeSocket.last.welcomes({ seats: ["m"] });
  assert.deepEqual(FakeSocket.last.take(), sent);
  FakeSocket.last.says({ type: "done", re: sent[1].id, seq: 4 });
  assert.equal((await moving).seq, 4);
});

/** Let time pass until the connection sends a message, and return it. */
async function nextSent(/** @type {FakeSocket} */ socket) {
  const until = performance.now() + 3_000;
  while (!socket.sent.length && performance.now() < until) {
    await new Promise((resolve) => setImmediate(resolve));
    mock.timers.tick(50);
  }
  return socket.take()[0];
}

test("without storage the player is known while the page is open", async () => {
  const broken = { getItem() { throw new Error("no"); }, setItem() { throw new Error("no"); }, removeItem() { throw new Error("no"); } };
  const { made } = connection({ name: "ada" }, broken);
  void made.open();
  FakeSocket.last.welcomes();
  FakeSocket.last.onclose({ code: 1006, reason: "" });
  mock.timers.tick(200);
  assert.equal(FakeSocket.last.welcomes().resume, "the-secret");
});

test("news go to who listens, and to nobody's harm", () => {
  const { made } = connection();
  const news = [];
  made.addEventListener("news", ({ detail }) => news.push(detail.type));
  void made.open();
  FakeSocket.last.welcomes();
  FakeSocket.last.says({ type: "event", match: "m" });
  FakeSocket.last.says({ type: "something_newer", x: 1 });
  FakeSocket.last.says({ type: "refused", re: 0, code: "malformed", message: "" });
  FakeSocket.last.says({ type: "done", re: 99 });
  assert.deepEqual(news, ["event", "something_newer", "refused"]);
});

// --- several servers -------------------------------------------------------------------------

const THERE = "ws://there.example/ws";

function sentElsewhere(id) {
  return {
    type: "refused", re: id, code: "elsewhere", message: "it is there",
    redirect: { url: THERE, ticket: "a-ticket" },
  };
}

test("a request goes where it was sent, with the ticket, and the secret stays good", async () => {
  const { made, storage } = connection();
  void made.open();
  FakeSocket.last.welcomes();
  const joining = made.request({ type: "join", lobby: "x" });
  const [request] = FakeSocket.last.take();
  FakeSocket.last.says(sentElsewhere(request.id));
  assert.equal(FakeSocket.last.url, THERE);
  const hello = FakeSocket.last.welcomes({ resume: "", nodes: [URL_] });
  assert.deepEqual([hello.ticket, hello.resume, hello.name], ["a-ticket", undefined, undefined]);
  const [again] = FakeSocket.last.take();
  assert.deepEqual(again, request);
  FakeSocket.last.says({ type: "done", re: again.id });
  assert.equal((await joining).type, "done");
  assert.deepEqual([...storage.kept.values()], ["the-secret"]);
});

test("who comes back is sent to its lobby, and an owner keeps its token", () => {
  const { made, storage } = connection({ token: "kb_owner" });
  void made.open();
  FakeSocket.last.onopen();
  const [hello] = FakeSocket.last.take();
  FakeSocket.last.says(sentElsewhere(hello.id));
  const sent = FakeSocket.last.welcomes({ resume: "" });
  assert.deepEqual([sent.ticket, sent.token], ["a-ticket", undefined]);
  assert.deepEqual([...storage.kept.values()], ["kb_owner"]);
});

test("while a server is away the others are tried in turn", () => {
  const { made } = connection();
  void made.open();
  FakeSocket.last.welcomes({ nodes: [THERE] });
  FakeSocket.last.onclose({ code: 1006, reason: "" });
  const tried = [];
  for (let round = 0; round < 3; round += 1) {
    mock.timers.tick(6_000);
    tried.push(FakeSocket.last.url);
    FakeSocket.last.onclose({ code: 1006, reason: "" });
  }
  assert.deepEqual(tried, [URL_, THERE, URL_]);
});

test("a request is not sent to and fro for ever", async () => {
  const { made } = connection();
  void made.open();
  FakeSocket.last.welcomes();
  const joining = made.request({ type: "join", lobby: "x" });
  const refused = assert.rejects(joining, (error) => error.code === "elsewhere");
  for (let hop = 0; hop <= 5; hop += 1) {
    const [request] = FakeSocket.last.take();
    FakeSocket.last.says(sentElsewhere(request.id));
    if (hop < 5) FakeSocket.last.welcomes({ resume: "" });
  }
  await refused;
  assert.equal(made.state, "online");
});

test("who is never let in where it was sent asks at home again", () => {
  const { made } = connection();
  void made.open();
  for (let round = 0; round < 6; round += 1) {
    assert.equal(FakeSocket.last.url, URL_);
    FakeSocket.last.onopen();
    FakeSocket.last.says(sentElsewhere(FakeSocket.last.take()[0].id));
    for (let tries = 0; tries < 3; tries += 1) {
      assert.equal(FakeSocket.last.url, THERE);
      FakeSocket.last.onopen();
      const [hello] = FakeSocket.last.take();
      assert.equal(hello.ticket, "a-ticket");
      FakeSocket.last.says({ type: "refused", re: hello.id, code: "unavailable", message: "not here" });
      mock.timers.tick(6_000);
    }
  }
  FakeSocket.last.welcomes();
  assert.equal(made.state, "online");
});

test("a ticket that comes too late sends its player home", () => {
  const { made } = connection();
  void made.open();
  FakeSocket.last.welcomes();
  void made.request({ type: "join", lobby: "x" });
  const [request] = FakeSocket.last.take();
  FakeSocket.last.says(sentElsewhere(request.id));
  FakeSocket.last.onopen();
  const [hello] = FakeSocket.last.take();
  FakeSocket.last.says({ type: "refused", re: hello.id, code: "unauthorized", message: "too old" });
  mock.timers.tick(6_000);
  assert.equal(FakeSocket.last.url, URL_);
  assert.equal(FakeSocket.last.welcomes().resume, "the-secret");
});

test("two servers below paths of one host keep their secrets apart", async () => {
  const keys = [];
  const storage = { getItem: (key) => (keys.push(key), null), setItem: () => {}, removeItem: () => {} };
  for (const url of ["wss://here/ws", "wss://here/a/ws", "wss://here/b/ws"]) {
    assert.equal(new Connection({ url, storage }).knowsWho, false);
  }
  assert.deepEqual([...new Set(keys)], ["kibitz.resume.here", "kibitz.resume.here/a", "kibitz.resume.here/b"]);
});
