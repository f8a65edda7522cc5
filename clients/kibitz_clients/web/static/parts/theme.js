// The dark or light theme: the system's, until the user chooses one.

/** @typedef {"dark"|"light"} Look */
/** @typedef {Pick<Storage, "getItem"|"setItem">} Store */

const KEY = "kibitz.theme";

export class Theme extends EventTarget {
  #store;
  #system = matchMedia("(prefers-color-scheme: light)");

  /** @param {Store} store */
  constructor(store) {
    super();
    this.#store = store;
    const chosen = store.getItem(KEY);
    if (chosen === "dark" || chosen === "light") document.documentElement.dataset.theme = chosen;
    this.#system.addEventListener("change", () => this.dispatchEvent(new Event("change")));
  }

  /** @returns {Look} */
  get look() {
    const chosen = document.documentElement.dataset.theme;
    if (chosen === "dark" || chosen === "light") return chosen;
    return this.#system.matches ? "light" : "dark";
  }

  /** Switch to the other theme. */
  toggle() {
    const look = this.look === "dark" ? "light" : "dark";
    document.documentElement.dataset.theme = look;
    this.#store.setItem(KEY, look);
    this.dispatchEvent(new Event("change"));
  }
}
