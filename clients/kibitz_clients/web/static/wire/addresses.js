// The address that a session connects to: its own server or another one in the cluster.

/** How often to try the target of a redirect, which may not know the player at first. */
const MOST_TRIES = 3;
/** How many redirects in a row a request or hello may follow without pausing. */
export const MOST_HOPS = 5;

export class Addresses {
  /** @type {string | null} the ticket of a redirect, which admits the player at `present` */
  ticket = null;
  #own;
  /** @type {string[]} */
  #others = [];
  /** The number of redirects that hello has followed without a pause. */
  #helloHops = 0;
  /** Failed attempts to be admitted at the target of a redirect. */
  #tries = 0;

  /** @param {string} own the address of the session's own server */
  constructor(own) {
    this.#own = own;
    /** @type {string} the server to connect to now */
    this.present = own;
  }

  /**
   * Store the other servers of the cluster, which the welcome of the current one lists.
   * @param {string[]} others
   */
  admitted(others) {
    this.ticket = null;
    this.#helloHops = 0;
    this.#others = others;
  }

  /** Allow redirects again after the connection was lost. */
  restartHops() {
    this.#helloHops = 0;
  }

  /** Count a redirect of hello; return whether it may be followed. */
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
   * Retry the target of a redirect, or go to the next server after `MOST_TRIES`. A server that
   * has lost its database admits nobody, while others still redirect players there.
   */
  notLetIn() {
    this.#tries += 1;
    if (!this.ticket || this.#tries >= MOST_TRIES) this.tryNext();
  }

  /** Go to the next server, because the current one is unreachable or admits nobody. */
  tryNext() {
    this.ticket = null;
    const known = [this.#own, ...this.#others];
    this.present = known[(known.indexOf(this.present) + 1) % known.length] ?? this.#own;
  }
}
