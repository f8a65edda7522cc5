// Refusals as text for the person who fills in a form.

/**
 * A refusal in the words of the form: no paths of messages, no flags of commands.
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
