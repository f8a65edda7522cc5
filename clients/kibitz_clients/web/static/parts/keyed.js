// A list that reuses the elements of unchanged lines, so that focus, selection and running boards
// survive several updates per second.

/** @typedef {HTMLElement & {update?: (item: any) => void}} Line `update` shows a changed item */

/**
 * @template T
 */
export class KeyedList {
  /** @type {Map<string, {element: Line, shown: string}>} */
  #lines = new Map();

  /**
   * @param {HTMLElement} list
   * @param {(item: T) => string} key
   * @param {(item: T) => Line} make
   */
  constructor(list, key, make) {
    this.list = list;
    this.key = key;
    this.make = make;
  }

  /**
   * Show these items in this order.
   * @param {T[]} items
   */
  show(items) {
    // Make all lines before placing any: a new line replaces its old element in place.
    this.#lines = new Map(items.map((item) => [this.key(item), this.#line(item)]));
    /** @type {Element | null} */
    let next = this.list.firstElementChild;
    for (const { element } of this.#lines.values()) {
      if (element === next) next = next.nextElementSibling;
      else this.list.insertBefore(element, next);
    }
    for (const element of [...this.list.children].slice(this.#lines.size)) element.remove();
  }

  /** @param {T} item */
  #line(item) {
    const shown = JSON.stringify(item);
    const line = this.#lines.get(this.key(item));
    if (!line) return { element: this.make(item), shown };
    if (line.shown === shown) return line;
    if (line.element.update) {
      line.element.update(item);
      return { element: line.element, shown };
    }
    const element = this.make(item);
    replace(line.element, element);
    return { element, shown };
  }
}

/**
 * Replace an element; the focus moves to the control at the same position in the new one.
 * @param {HTMLElement} old
 * @param {HTMLElement} element
 */
export function replace(old, element) {
  const controls = "a, button, input, select";
  const at = [...old.querySelectorAll(controls)].indexOf(/** @type {Element} */ (document.activeElement));
  old.replaceWith(element);
  if (at < 0) return;
  /** @type {HTMLElement | undefined} */ ([...element.querySelectorAll(controls)][at])?.focus();
}
