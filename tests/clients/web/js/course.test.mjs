import assert from "node:assert/strict";
import { test } from "node:test";
import { use } from "./use.mjs";

const { Course } = await use("parts/course.js");
const { Follower } = await use("parts/follower.js");
const { snapshotOf } = await use("parts/finished.js");
const { progressText } = await use("parts/analysis.js");
const { commentText, stepText, valueText } = await use("parts/move_text.js");
const { Playback } = await use("parts/playback.js");
const { curvesOf, height, scaleOf } = await use("parts/value_graph.js");
const { courseOf } = await use("parts/recorded_match.js");

const empty = { lattice: "square", cells: {}, labels: [], marks: [], text: ["0"], colours: [] };
const stageOf = (seq) => ({ ...empty, text: [String(seq)] });
const move = (seq, more = {}) => ({
  seq, ply: seq, toAct: seq % 2, paint: { text: [String(seq)] },
  entry: { seq, kind: "move", ply: seq - 1, seat: (seq - 1) % 2, action: { to: seq }, ...more },
});
const courseTo = (last) => {
  const course = new Course(empty);
  for (let seq = 1; seq <= last; seq += 1) course.push(move(seq));
  return course;
};

test("a course has the stage of every step, in any order, and beyond its ends", () => {
  const course = courseTo(100);
  for (const at of [100, 0, 64, 63, 1, 99, 33]) assert.equal(course.stageAt(at).text[0], String(at));
  assert.equal(course.stageAt(1000).text[0], "100");
  assert.equal(course.stageAt(-5).text[0], "0");
});

test("a stage that is kept is not made again", () => {
  const course = courseTo(10);
  course.keep(stageOf("kept"));
  course.push({ ...move(11), paint: null });
  assert.equal(course.stageAt(11).text[0], "kept");
});

test("plies and places of a course", () => {
  const course = courseTo(2);
  course.push({ seq: 3, ply: 2, toAct: 0, entry: { seq: 3, kind: "note", seat: 0, text: "x" } });
  course.push({ ...move(4), ply: 3 });
  assert.deepEqual([0, 1, 2, 3, 9].map((ply) => course.indexOfPly(ply)), [0, 1, 2, 4, 4]);
  assert.equal(course.next(2, 1), 4);
  assert.equal(course.next(4, -1), 2);
  assert.equal(course.next(4, 1), 4);
  assert.equal(course.moveAt(3).seq, 2);
  assert.equal(course.moveAt(0), null);
});

test("playback follows the newest until somebody goes elsewhere", () => {
  const course = courseTo(3);
  const playback = new Playback(course);
  playback.load(course, 3);
  course.push(move(4));
  playback.extended();
  assert.equal(playback.index, 4);
  playback.goTo(1);
  course.push(move(5));
  playback.extended();
  assert.deepEqual([playback.index, playback.following], [1, false]);
  playback.goTo(99);
  assert.deepEqual([playback.index, playback.following], [5, true]);
});

test("playing goes on to the end and stops there", async () => {
  const playback = new Playback(courseTo(2));
  playback.speed = 1000;
  playback.play();
  assert.equal(playback.index, 0);
  await new Promise((resolve) => {
    playback.addEventListener("state", () => { if (!playback.playing) resolve(undefined); });
  });
  assert.equal(playback.index, 2);
});

test("values that bots gave, by seat", () => {
  const course = new Course(empty);
  [1, -4, 2, "much", Infinity, null].forEach((value, i) => course.push(move(i + 1, { comment: { value } })));
  const [first, second] = curvesOf(course, 2);
  assert.deepEqual(first.values.map(({ value }) => value), [1, 2]);
  assert.deepEqual(second.values, [{ ply: 2, index: 2, value: -4 }]);
  assert.deepEqual(curvesOf(courseTo(3), 2), []);
});

test("an analysis takes the place of comments and judges the position before a move", () => {
  const course = new Course(empty);
  for (const ply of [0, 1]) {
    course.push(move(ply + 1, { ply, comment: { value: 5, text: "own" } }));
  }
  const moves = [
    { ply: 0, seat: 0, played: "a", best: "a", value: 1, line: ["a", "b"] },
    { ply: 1, seat: 1, played: "c", best: "b", value: -1 },
  ];
  course.judge({ by: "x/y", ms: 5, moves, swings: [] });
  assert.deepEqual(course.steps.map(({ entry }) => entry.comment),
    [{ value: 1, text: "" }, { value: -1, text: "better b" }]);
  assert.deepEqual([course.judgedAt(0), course.judgedAt(1), course.judgedAt(2)], [...moves, undefined]);
  assert.deepEqual(curvesOf(course, 2)[1].values, [{ ply: 1, index: 1, value: -1 }]);
});

test("how far an analysis is, in words", () => {
  assert.equal(progressText({ ahead: 1, done: 0, of: 9 }), "Waiting for 1 other match to be analyzed.");
  assert.equal(progressText({ ahead: 0, done: 0, of: 9 }), "Starting the analysis, which takes up to a minute.");
  assert.equal(progressText({ ahead: 0, done: 4, of: 9 }), "Analyzing move 4 of 9.");
});

test("a median value is halfway to the rim, a huge one within it", () => {
  const scale = scaleOf([{ value: 0 }, { value: -2 }, { value: 4 }, { value: 1e9 }]);
  assert.equal(scale, 4);
  assert.equal(height(4, scale, false), 0.5);
  assert.equal(height(4, scale, true), -0.5);
  assert.ok(height(1e9, scale, false) <= 1 && height(-1e9, scale, false) >= -1);
  assert.equal(scaleOf([{ value: 0 }]), 1);
});

test("moves in words, from what they mark or fill", () => {
  const said = (paint, action, more = {}) =>
    stepText({ seq: 1, ply: 1, toAct: 0, paint, entry: { seq: 1, kind: "move", seat: 0, action, ...more } }, true, []);
  assert.equal(said({ marks: [{ kind: "path", cells: ["a", "b", "c"], seat: 0 }] }, { from: 1, to: 2 }), "a-b-c");
  assert.equal(said({ marks: [{ kind: "to", cells: ["e5"], seat: 0 }] }, { x: 4, y: 4 }), "e5");
  assert.equal(said({ cells: { c6: { owner: 0 } } }, { column: 2 }), "c6");
  assert.equal(said({ marks: [{ kind: "to", cells: ["9,9"], seat: 1 }] }, { action: "fire" }), "fire");
  assert.equal(said(null, {}), "passes");
  assert.equal(said({}, { x: 1 }, { text: "b1" }), "b1");
});

test("other entries in words", () => {
  const said = (entry, turn = false) => stepText({ seq: 1, ply: 1, toAct: 0, entry: { seq: 1, ...entry } }, turn, ["ada"]);
  assert.equal(said({ kind: "hidden" }, true), "a hidden move");
  assert.equal(said({ kind: "hidden" }), "");
  assert.equal(said({ kind: "forfeit", seat: 0, cause: "time" }), "lost on time");
  assert.equal(said({ kind: "replace", seat: 0, player: { name: "bo" } }), "bo plays on");
  assert.equal(said({ kind: "something new" }), "something new");
});

test("what bots say of their moves", () => {
  assert.equal(commentText({ value: 1.234, depth: 7, nodes: 12000, text: "all mine" }), "+1.23, depth 7, 12,000 nodes, all mine");
  assert.deepEqual([valueText(-1234.6), valueText(0)], ["-1235", "0"]);
  assert.deepEqual([1e6 - 7, 3 - 1e6, 1e6].map(valueText), ["won in 7", "lost in 3", "won"]);
});

test("a record's first and last lines say what a snapshot would", () => {
  const snapshot = snapshotOf({ match: "m", seats: [] }, { result: { plies: 9 } }, 12);
  assert.deepEqual([snapshot.match, snapshot.seq, snapshot.ply, snapshot.to_act], ["m", 12, 9, -1]);
});

test("a viewpoint's own entries stand in place of the others", () => {
  const recorded = { entries: [{ seq: 1, kind: "move", text: "up" }] };
  const steps = [{ ply: 1, to_act: 0, entry: { seq: 1, kind: "hidden" } }];
  assert.equal(courseOf(recorded, { stage: empty, to_act: 0, steps }).steps[0].entry.kind, "hidden");
  assert.equal(courseOf(recorded, { stage: empty, to_act: 0, steps: [{ ply: 1, to_act: 0 }] }).steps[0].entry.text, "up");
});

// --- the history of a match, and its events -----------------------------------------------

class Model extends EventTarget {
  id = "m";
  snapshot = {};
  stage = stageOf(3);
  ply = 3;
  toAct = 1;
  clocks = null;

  tell(detail) {
    this.dispatchEvent(new CustomEvent("change", { detail }));
  }

  happen(seq) {
    this.ply = seq;
    this.tell({ why: "event", paint: { text: [String(seq)] }, entry: { seq, kind: "move", ply: seq - 1, seat: 0, action: {} } });
  }
}

/** A server with a history of `last` entries, two per page, that answers when told to. */
function serverWith(last) {
  const asked = [];
  const request = (message) => new Promise((resolve) => {
    asked.push({ first: message.first, answer: () => {
      const seqs = [message.first, message.first + 1].filter((seq) => seq <= last);
      resolve({
        stage: stageOf(message.first - 1), more: message.first + 1 < last,
        events: seqs.map((seq) => ({ ply: seq, to_act: seq % 2, patch: { text: [String(seq)] }, entry: { seq, kind: "move", seat: 0, action: {} } })),
      });
    } });
  });
  return { asked, app: { connection: { request } } };
}
const settled = () => new Promise((resolve) => setTimeout(resolve));

test("the past is asked for page by page, and news that come meanwhile follow it", async () => {
  const { asked, app } = serverWith(3);
  const model = new Model();
  const follower = new Follower(app, model);
  assert.equal(follower.course.stageAt(0).text[0], "3");
  model.happen(4);
  assert.equal(follower.course.length, 1);
  asked[0].answer();
  await settled();
  model.happen(5);
  asked[1].answer();
  await settled();
  assert.deepEqual(asked.map(({ first }) => first), [1, 3]);
  assert.equal(follower.whole, true);
  assert.deepEqual(follower.course.steps.map(({ seq }) => seq), [1, 2, 3, 4, 5]);
  model.happen(6);
  assert.equal(follower.course.stageAt(6).text[0], "6");
});

test("after a gap only what is missing is asked for, after the end all of it", async () => {
  const server = serverWith(5);
  const model = new Model();
  const follower = new Follower(server.app, model);
  for (let page = 0; page < 3; page += 1) {
    server.asked[page].answer();
    await settled();
  }
  assert.equal(follower.course.length, 5);
  const kept = follower.course;
  model.tell({ why: "snapshot" });
  assert.equal(server.asked[3].first, 6);
  server.asked[3].answer();
  await settled();
  assert.equal(follower.course, kept);
  model.tell({ why: "finished" });
  assert.equal(server.asked[4].first, 1);
  follower.close();
});

test("a refusal is told, and the next snapshot asks again", async () => {
  const model = new Model();
  let refuse = true;
  const server = serverWith(1);
  const request = (message) => (refuse ? Promise.reject(new Error("no")) : server.app.connection.request(message));
  const follower = new Follower({ connection: { request } }, model);
  const trouble = await new Promise((resolve) => { follower.addEventListener("trouble", (event) => resolve(event.detail)); });
  assert.equal(trouble.message, "no");
  refuse = false;
  await settled();
  model.tell({ why: "snapshot" });
  assert.equal(server.asked.length, 1);
});
