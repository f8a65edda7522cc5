// Creates elements. Strings are always inserted as text, never as markup.

/** @typedef {Node | string | number | null | undefined | false} Child */

/**
 * Create an element: `h("a", {href: "/", class: "x"}, "text")`. A function is added as a listener
 * of the event in its name (`onclick`); `false`, `null` and `undefined` omit an attribute, and
 * `true` sets it without a value.
 * @template {keyof HTMLElementTagNameMap} K
 * @param {K} tag
 * @param {Record<string, unknown> | null} [attributes]
 * @param {...(Child | Child[])} children
 * @returns {HTMLElementTagNameMap[K]}
 */
export function h(tag, attributes, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (typeof value === "function") {
      element.addEventListener(name.slice(2), /** @type {EventListener} */ (value));
    } else if (value === true) {
      element.setAttribute(name, "");
    } else if (value !== false && value !== null && value !== undefined) {
      element.setAttribute(name, String(value));
    }
  }
  element.append(...nodes(children));
  return element;
}

/**
 * @param {(Child | Child[])[]} children
 * @returns {(Node | string)[]}
 */
export function nodes(children) {
  return children.flat().flatMap((child) => {
    if (child === null || child === undefined || child === false) return [];
    return [child instanceof Node ? child : String(child)];
  });
}

let labels = 0;

/**
 * Label an input (before it, or after a checkbox), with an optional explanation below.
 * @param {string} text
 * @param {HTMLInputElement | HTMLSelectElement} input
 * @param {Child} [help]
 */
export function labelled(text, input, help) {
  input.id = `input-${++labels}`;
  const label = h("label", { for: input.id }, text);
  return input.type === "checkbox" ? h("div", { class: "row" }, input, label, help)
    : h("div", { class: "field" }, label, input, help);
}

/**
 * Replace the children of an element.
 * @param {Element} element
 * @param {...(Child | Child[])} children
 */
export function fill(element, ...children) {
  element.replaceChildren(...nodes(children));
}
