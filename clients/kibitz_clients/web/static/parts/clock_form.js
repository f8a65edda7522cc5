// A form to choose a time control: a common one or custom numbers.

import { h, labelled } from "./dom.js";

/** @typedef {import("../wire/messages.js").TimeControl} TimeControl */

/** @type {[string, TimeControl][]} */
const USUAL = [
  ["1 second per move", { move_ms: 1_000 }],
  ["1 minute + 1 second per move", { main_ms: 60_000, increment_ms: 1_000 }],
  ["5 minutes + 3 seconds per move", { main_ms: 300_000, increment_ms: 3_000 }],
  ["15 minutes + 10 seconds per move", { main_ms: 900_000, increment_ms: 10_000 }],
  ["30 seconds per move", { move_ms: 30_000 }],
];
const CHOSEN = "5 minutes + 3 seconds per move";
const NUMBERS = /** @type {const} */ ([
  ["main_ms", "Minutes for the match", 60_000],
  ["increment_ms", "Seconds added per move", 1_000],
  ["move_ms", "Free seconds per move", 1_000],
  ["bank_ms", "Reserve seconds used after that", 1_000],
  ["periods", "Byo-yomi periods", 1],
  ["period_ms", "Seconds per period", 1_000],
]);

/**
 * @param {string} chosen the text of the initial control; any other text selects "No clock"
 * @returns {{element: HTMLElement, value: () => TimeControl}}
 */
export function clockForm(chosen = CHOSEN) {
  const usual = h("select", null,
    h("option", { value: "none" }, "No clock"),
    USUAL.map(([text], i) => h("option", { value: i, selected: text === chosen }, text)),
    h("option", { value: "own" }, "Custom…"));
  const inputs = NUMBERS.map(([name, text, unit]) => ({
    name, text, unit,
    input: h("input", { type: "number", min: 0, step: unit === 60_000 ? 0.5 : name === "periods" ? 1 : 0.1, value: 0, inputmode: "decimal" }),
  }));
  const own = h("div", { class: "fields", hidden: true }, inputs.map(({ input, text }) => labelled(text, input)));
  usual.addEventListener("change", () => {
    own.hidden = usual.value !== "own";
  });
  const element = labelled("Clock", usual, own);
  const value = () => {
    if (usual.value === "none") return {};
    if (usual.value !== "own") return USUAL[Number(usual.value)][1];
    const given = inputs.map(({ name, input, unit }) => [name, Math.round(Number(input.value) * unit)]);
    return Object.fromEntries(given.filter(([, number]) => number));
  };
  return { element, value };
}
