// Starts the viewer in a file written by `kibitz record export`, which contains the match.
// `#ply=17` in the address opens it after that ply.

import { define } from "./board/board.js";
import { h } from "./parts/dom.js";
import { showRecorded } from "./parts/recorded_match.js";

/** Return the ply in the address after `#`, or null. */
function namedPly() {
  const ply = new URLSearchParams(location.hash.slice(1)).get("ply");
  return ply !== null && /^\d{1,9}$/.test(ply) ? Number(ply) : null;
}

define();
const recorded = JSON.parse(document.getElementById("match")?.textContent ?? "");
const page = h("main");
document.body.append(page);
const viewer = showRecorded(page, recorded, namedPly() ?? recorded.ply ?? 0);
const { playback } = viewer;
addEventListener("hashchange", () => {
  const ply = namedPly();
  if (ply !== null && ply !== viewer.course.plyAt(playback.index)) {
    playback.goTo(viewer.course.indexOfPly(ply));
  }
});
playback.addEventListener("state", () => {
  if (!playback.playing) history.replaceState(null, "", `#ply=${viewer.course.plyAt(playback.index)}`);
});
