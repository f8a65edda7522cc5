// The secret that lets a player reconnect, kept across visits if the browser has storage.

/** @typedef {Pick<Storage, "getItem"|"setItem"|"removeItem">} Store */

export class Secret {
  #key;
  #store;
  /** @type {string | null} the secret, if it cannot be stored */
  #memory = null;

  /**
   * @param {string} url the address of the secret's server
   * @param {Store} store
   */
  constructor(url, store) {
    const { host, pathname } = new URL(url);
    // The same proxy may serve other servers at other paths.
    this.#key = `kibitz.resume.${host}${pathname.replace(/\/(?:ws)?$/, "")}`;
    this.#store = store;
  }

  /** @returns {string | null} */
  get value() {
    try {
      return this.#store.getItem(this.#key) ?? this.#memory;
    } catch {
      return this.#memory; // storage may be forbidden
    }
  }

  /** @param {string} secret */
  keep(secret) {
    try {
      this.#store.setItem(this.#key, secret);
    } catch {
      // without storage the secret lasts until the page is closed
    }
    this.#memory = secret;
  }

  forget() {
    this.#memory = null;
    try {
      this.#store.removeItem(this.#key);
    } catch {
      // there was none
    }
  }
}
