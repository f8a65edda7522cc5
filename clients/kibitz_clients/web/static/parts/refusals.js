// Refusals as text for the person filling in a form.

import { Refusal } from "../wire/connection.js";

/**
 * Return what went wrong and how to fix it.
 * @param {unknown} error
 */
export function refusalText(error) {
  const text = error instanceof Error ? error.message : String(error);
  return error instanceof Refusal && error.hint ? `${text} (${error.hint})` : text;
}

/**
 * Rephrase a refusal in terms of the form, without message paths or command-line flags.
 * @param {string} message
 */
export function withoutPaths(message) {
  return message
    .replace(/\bsettings\.programme\.(\d+)\.(?:options\.)?([a-z_]+)/g,
      (_, item, field) => `game ${Number(item) + 1}, ${field.replaceAll("_", " ")}`)
    .replace(/\bsettings\.seats\.(\d+)(?:\.[a-z_]+)*/g, (_, seat) => `seat ${Number(seat) + 1}`)
    .replace(/\bsettings\.([a-z_.]+)/g, (_, field) => field.replaceAll(/[_.]/g, " "))
    .replace(/ \(--[a-z-]+\)/g, "")
    .replace(/^./, (first) => first.toUpperCase());
}
