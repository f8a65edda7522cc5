// The address that a session connects to: its own server, or another one of the cluster.

/** Attempts at a server that a redirect named, which may not recognize the player at once. */
const MOST_TRIES = 3;
/** Redirects that a request, or hello, follows without a pause before it fails. */
export const MOST_HOPS = 5;

export class Addresses {
  /** @type {string | null} the ticket of a redirect, which admits the player at `present` */
  ticket = null;
  #own;
  /** @type {string[]} */
  #others = [];
  /** How many redirects hello has followed without a pause. */
  #helloHops = 0;
  /** Failed attempts to be admitted at the server that a redirect named. */
  #tries = 0;

  /** @param {string} own the address of the session's own server */
  constructor(own) {
    this.#own = own;
    /** @type {string} the server to connect to now */
    this.present = own;
  }

  /**
   * Note the welcome of the present server, which lists the others of the cluster.
   * @param {string[]} others
   */
  admitted(others) {
    this.ticket = null;
    this.#helloHops = 0;
    this.#others = others;
  }

  /** Let redirects be followed again, because the connection was lost. */
  restartHops() {
    this.#helloHops = 0;
  }

  /** Whether hello may follow one more redirect, which counts it. */
  mayRedirectHello() {
    this.#helloHops += 1;
    return this.#helloHops <= MOST_HOPS;
  }

  /**
   * Follow a redirect to another server.
   * @param {{url: string, ticket: string}} redirect
   */
  follow({ url, ticket }) {
    this.present = url;
    this.ticket = ticket;
    this.#tries = 0;
  }

  /**
   * Retry the server that a redirect named, or go to the next one after `MOST_TRIES`. A server that
   * has lost its database admits nobody, while others still redirect players there.
   */
  notLetIn() {
    this.#tries += 1;
    if (!this.ticket || this.#tries >= MOST_TRIES) this.tryNext();
  }

  /** Go to the next server, because the present one is unreachable or admits nobody. */
  tryNext() {
    this.ticket = null;
    const known = [this.#own, ...this.#others];
    this.present = known[(known.indexOf(this.present) + 1) % known.length] ?? this.#own;
  }
}
