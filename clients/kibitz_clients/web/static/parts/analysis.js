// Requests the analysis of a finished match by a bot on the server, and lists its findings.

import { at } from "./address.js";
import { fill, h } from "./dom.js";

/** @typedef {import("./course.js").Analysis} Analysis */
/** @typedef {{ahead: number, done: number, of: number}} Progress */

const ASK_MS = 2000;

/**
 * Poll for something that the server computes about a match until it is complete. Rejects with the
 * reason if the server refuses it.
 * @param {string} match
 * @param {"analysis" | "hint"} what
 * @param {(progress: Progress) => void} [tell]
 * @param {AbortSignal} [signal]
 */
export async function computed(match, what, tell = () => {}, signal = undefined) {
  for (;;) {
    const answer = await fetch(at(`/records/${encodeURIComponent(match)}/${what}`), { signal });
    if (answer.status === 200) return answer.json();
    if (answer.status !== 202) throw new Error(sentence(await answer.text()));
    tell(await answer.json());
    await new Promise((resolve) => { setTimeout(resolve, ASK_MS); });
  }
}

/** Format the text of a refusal as a sentence. @param {string} text */
function sentence(text) {
  const words = text.trim() || "the server did not answer";
  return `${words[0].toUpperCase()}${words.slice(1)}.`;
}

/** Describe the progress of an analysis. @param {Progress} progress */
export function progressText({ ahead, done, of }) {
  if (ahead > 0) return `Waiting for ${ahead} other ${ahead === 1 ? "match" : "matches"} to be analyzed.`;
  return done > 0 ? `Analyzing move ${done} of ${of}.` : "Starting the analysis, which takes up to a minute.";
}

/** The part of a match page that shows its analysis. */
export class AnalysisPanel {
  #leaving = new AbortController();
  /** Whether the server is working on the analysis. */
  busy = false;
  /** @type {Analysis | null} */
  analysis = null;

  /**
   * @param {string} match
   * @param {{change: () => void, go: (ply: number) => void}} page `change` is called when the
   *   analysis starts, is complete or is refused; `go` is called with the ply of a chosen move
   */
  constructor(match, page) {
    this.match = match;
    this.page = page;
    this.root = h("section", { class: "analysis", "aria-label": "Analysis", tabindex: -1, hidden: true });
  }

  close() {
    this.#leaving.abort();
  }

  /** Request the analysis; show its progress and its result. @param {readonly string[]} names */
  async open(names) {
    const { signal } = this.#leaving;
    const words = h("p", { class: "muted" }, progressText({ ahead: 0, done: 0, of: 0 }));
    const bar = h("progress", { "aria-label": "Analysis" });
    fill(this.root, words, bar);
    this.root.hidden = false;
    this.busy = true;
    this.page.change();
    this.root.focus();
    try {
      const analysis = await computed(this.match, "analysis", (progress) => {
        words.textContent = progressText(progress);
        [bar.max, bar.value] = [progress.of, progress.done];
      }, signal);
      this.analysis = analysis;
      this.#list(analysis, names);
    } catch (error) {
      if (signal.aborted) return;
      fill(this.root, h("p", { role: "alert" }, error instanceof Error ? error.message : String(error)));
    }
    this.busy = false;
    this.page.change();
  }

  /** @param {Analysis} analysis @param {readonly string[]} names */
  #list({ by, ms, moves, swings }, names) {
    const lines = swings.map(({ ply, seat, before, after }) => {
      const move = moves.find((judged) => judged.ply === ply);
      const better = move && move.best !== move.played && `, better ${move.best}`;
      return h("li", null,
        h("a", { href: at(`/match/${this.match}?ply=${ply}`), onclick: (/** @type {MouseEvent} */ event) => this.#go(event, ply) },
          `Ply ${ply}`),
        `: ${names[seat] ?? `seat ${seat + 1}`} played ${move?.played ?? "a move"} (${before} → ${after})`, better);
    });
    fill(this.root,
      h("h2", null, "Analysis"),
      h("p", { class: "muted small-text", role: "status" },
        `${by} judged each position for ${ms} ms. ${lines.length > 0
          ? "These moves lost the most value by the player's next turn:" : "No move lost any value."}`),
      lines.length > 0 && h("ul", { class: "costliest" }, lines));
  }

  /** @param {MouseEvent} event @param {number} ply */
  #go(event, ply) {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return; // opens another tab or window
    event.preventDefault();
    this.page.go(ply);
  }
}
