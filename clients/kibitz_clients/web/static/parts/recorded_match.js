// Shows a match that `kibitz record export` has written into a page: builds a course for each
// viewpoint, and the viewer.

import { Course } from "./course.js";
import { fill, h } from "./dom.js";
import { Viewer } from "./viewer.js";

/** @typedef {import("./course.js").Entry} Entry */
/** @typedef {import("../wire/messages.js").Stage} Stage */
/** @typedef {import("../wire/paint.js").Paint} Paint */
/** @typedef {import("../wire/messages.js").Clock} Clock */
/** @typedef {{ply: number, to_act: number, entry?: Entry, paint?: Paint, clocks?: Clock[]}} Written
 *   a step in the file; it has an `entry` only if this viewpoint saw a different one than the first */
/** @typedef {{label: string, stage: Stage, to_act: number, clocks?: Clock[], steps: Written[]}} Viewpoint */
/** @typedef {{title: string, subtitle: string, players: import("../wire/messages.js").Player[],
 *   control: import("../wire/messages.js").TimeControl, result: string, seats: string[],
 *   engines: string[], ply: number | null, entries: Entry[], viewpoints: Viewpoint[]}} Recorded */

/**
 * Return the course of a match as one viewer saw it.
 * @param {Recorded} recorded
 * @param {Viewpoint} viewpoint
 */
export function courseOf({ entries }, { stage, to_act: toAct, clocks, steps }) {
  const course = new Course(stage, { toAct, clocks });
  for (const [i, written] of steps.entries()) {
    const entry = written.entry ?? entries[i];
    const { ply, to_act: next, paint } = written;
    course.push({ seq: entry.seq, ply, toAct: next, entry, paint, clocks: written.clocks });
  }
  return course;
}

/**
 * Show a match.
 * @param {HTMLElement} root
 * @param {Recorded} recorded
 * @param {number} ply the ply to open
 */
export function showRecorded(root, recorded, ply) {
  const viewer = new Viewer();
  const choose = h("select", { id: "viewpoint" },
    recorded.viewpoints.map(({ label }, i) => h("option", { value: i }, label)));
  choose.addEventListener("change", () => {
    const { index } = viewer.playback;
    viewer.load(courseOf(recorded, recorded.viewpoints[Number(choose.value)]), index);
  });
  fill(viewer.head,
    h("p", { class: "result" }, recorded.result),
    recorded.viewpoints.length > 1 && h("p", { class: "row" },
      h("label", { for: "viewpoint" }, "Seen by"), choose));
  fill(root,
    h("header", { class: "match-title" }, h("h1", null, recorded.title),
      h("p", { class: "muted" }, recorded.subtitle)),
    viewer.root);
  viewer.describe({ players: recorded.players, control: recorded.control, seatNotes: recorded.seats,
    engines: recorded.engines });
  const course = courseOf(recorded, recorded.viewpoints[0]);
  viewer.load(course, course.indexOfPly(ply));
  return viewer;
}
