// A match from a file that `kibitz export` wrote: read here, sent nowhere.

import { fill, h } from "../parts/dom.js";
import { showRecorded } from "../parts/recorded_match.js";

/** @param {HTMLElement} root */
export function show(root) {
  document.title = "Replay - kibitz";
  const trouble = h("p", { class: "trouble", role: "alert" });
  const shown = h("div");
  const input = h("input", { type: "file", accept: ".html", id: "file" });
  input.addEventListener("change", async () => {
    const file = input.files?.[0];
    if (!file) return;
    trouble.textContent = "";
    try {
      showRecorded(shown, matchOf(await file.text()), 0);
    } catch (error) {
      console.warn(error);
      fill(shown);
      trouble.textContent = `${file.name} is not a page that kibitz export wrote.`;
    }
  });
  fill(root,
    h("h1", null, "Replay"),
    h("p", { class: "lead" }, "Matches that were played here are replayed where they were played: open them from the hall. ",
      "A record becomes a page by ", h("code", null, "kibitz export FILE --out match.html"),
      ", which opens by itself, or here."),
    h("p", { class: "row" }, h("label", { for: "file" }, "Open a page"), input), trouble, shown);
}

/**
 * The match in the text of a page; nothing of the page is run.
 * @param {string} text
 * @returns {import("../parts/recorded_match.js").Recorded}
 */
function matchOf(text) {
  const page = new DOMParser().parseFromString(text, "text/html");
  const recorded = JSON.parse(page.getElementById("match")?.textContent ?? "");
  if (!Array.isArray(recorded.viewpoints) || !Array.isArray(recorded.entries)) throw new Error("no match");
  return recorded;
}
