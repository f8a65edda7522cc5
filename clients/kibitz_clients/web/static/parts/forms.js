// Form fields from JSON Schema, as far as games and house bots use it: choices, switches, numbers,
// and lists of them. Unchanged fields are not sent.

import { h, labelled } from "./dom.js";

/**
 * @typedef {object} Schema the supported parts of JSON Schema
 * @property {string} [type]
 * @property {string} [title]
 * @property {string} [description]
 * @property {unknown} [default]
 * @property {unknown[]} [enum]
 * @property {unknown[]} [examples]
 * @property {number} [minimum]
 * @property {number} [maximum]
 * @property {Schema[]} [anyOf]
 * @property {Schema} [items]
 * @property {Record<string, Schema>} [properties]
 */
/** @typedef {{element: HTMLElement, value: () => unknown}} Field `undefined` means the default */

let fields = 0;

/**
 * Make a field for each property of an object schema.
 * @param {Schema} schema
 * @returns {{element: HTMLElement, value: () => Record<string, unknown>}}
 */
export function objectForm(schema) {
  const made = Object.entries(schema.properties ?? {}).map(
    ([name, property]) => /** @type {const} */ ([name, field(name, property)]),
  );
  const element = h("div", { class: "fields" }, made.map(([, part]) => part.element));
  const value = () => {
    const given = made.map(([name, part]) => [name, part.value()]);
    return Object.fromEntries(given.filter(([, filled]) => filled !== undefined));
  };
  return { element, value };
}

/**
 * Make a field with its label and explanation.
 * @param {string} name
 * @param {Schema} schema
 * @returns {Field}
 */
export function field(name, schema) {
  const plain = withoutNull(schema);
  const id = `field-${++fields}`;
  const help = schema.description
    ? h("p", { id: `${id}-help`, class: "muted small-text" }, marked(schema.description)) : null;
  const attributes = { name, "aria-describedby": help ? `${id}-help` : undefined };
  const { input, value } = control(attributes, plain, schema.default);
  return { element: h("div", { class: "field" }, labelled(words(name), input), help), value };
}

/**
 * @param {Record<string, unknown>} attributes
 * @param {Schema} schema
 * @param {unknown} usual
 * @returns {{input: HTMLInputElement | HTMLSelectElement, value: () => unknown}}
 */
function control(attributes, schema, usual) {
  if (schema.enum) return choice(attributes, schema.enum, usual);
  if (schema.type === "boolean") {
    const input = h("input", { ...attributes, type: "checkbox", checked: usual === true });
    return { input, value: () => (input.checked === (usual === true) ? undefined : input.checked) };
  }
  if (schema.type === "integer" || schema.type === "number") {
    const input = h("input", {
      ...attributes, type: "number", min: schema.minimum, max: schema.maximum,
      step: schema.type === "integer" ? 1 : "any", inputmode: "decimal", value: usual ?? undefined,
      placeholder: usual === null || usual === undefined ? "default" : undefined,
    });
    return { input, value: () => changed(input.value === "" ? undefined : Number(input.value), usual) };
  }
  const example = /** @type {unknown[][]} */ (schema.examples ?? [])[0];
  const input = h("input", {
    ...attributes, type: "text", autocomplete: "off", spellcheck: "false",
    placeholder: example ? `such as ${[example].flat().join(" ")}` : "default",
  });
  const read = schema.type === "array" ? listOf : scalarOf;
  return { input, value: () => (input.value.trim() ? read(input.value, schema) : undefined) };
}

/**
 * @param {Record<string, unknown>} attributes
 * @param {unknown[]} values
 * @param {unknown} usual
 */
function choice(attributes, values, usual) {
  const input = h("select", attributes, values.map((value, i) =>
    h("option", { value: i, selected: value === usual }, optionText(value))));
  return { input, value: () => changed(values[Number(input.value)], usual) };
}

/**
 * @param {unknown} value
 * @param {unknown} usual
 */
function changed(value, usual) {
  return value === usual ? undefined : value;
}

/**
 * Return the schema of the value, without the null of an optional one.
 * @param {Schema} schema
 * @returns {Schema}
 */
export function withoutNull(schema) {
  const kinds = schema.anyOf?.filter((kind) => kind.type !== "null");
  if (!kinds) return schema;
  const merged = kinds.length === 1 ? kinds[0] : { type: "scalar" };
  return { examples: schema.examples, ...merged };
}

/**
 * Parse a list separated by commas or spaces.
 * @param {string} text
 * @param {Schema} schema
 */
export function listOf(text, schema) {
  const items = text.split(/[\s,]+/).filter(Boolean);
  return schema.items?.type === "string" ? items : items.map((item) => scalarOf(item));
}

/**
 * Parse a whole number; return any other text unchanged.
 * @param {string} text
 */
export function scalarOf(text) {
  const trimmed = text.trim();
  return /^-?\d{1,15}$/.test(trimmed) ? Number(trimmed) : trimmed;
}

/**
 * Return the label of a field: "Dead board draw" for `dead_board_draw`.
 * @param {string} name
 */
export function words(name) {
  const text = name.replaceAll("_", " ");
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/**
 * Format a text with option names in backticks.
 * @param {string} text
 */
function marked(text) {
  return text.split("`").map((part, i) => (i % 2 ? h("code", null, words(part)) : part));
}

/**
 * Return the label of a choice; people see seats counted from 1.
 * @param {unknown} value
 */
function optionText(value) {
  return String(value).replace(/^seat-(\d+)$/, (_, seat) => `seat ${Number(seat) + 1}`);
}
