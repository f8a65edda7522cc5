// The secret with which a player reconnects, kept across visits if the browser has storage.

/** @typedef {Pick<Storage, "getItem"|"setItem"|"removeItem">} Store */

export class Secret {
  #key;
  #store;
  /** @type {string | null} the secret, where it cannot be stored */
  #memory = null;

  /**
   * @param {string} url the address of the server that the secret is for
   * @param {Store} store
   */
  constructor(url, store) {
    const { host, pathname } = new URL(url);
    // Another server may be below another path of the same proxy.
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
      // without storage the player is known for as long as this page is open
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
