// One session with the server over any number of websockets: hello, requests, reconnects.
//
// A session outlives its sockets. When one is lost the next is opened after a growing, randomized
// pause, hello carries the secret of the first welcome, and unanswered requests are resent where
// that is harmless (`REPEATABLE`). The pages restore what they followed: on "welcome" they rejoin,
// watch and subscribe again, before the old requests are sent.
//
// In a cluster another server may have the match or lobby of a request: the refusal has its address
// and a ticket for it (`redirect`). While a server is unreachable, the others are tried in turn.
//
//     connecting --welcome--> open --lost--> waiting --pause--> connecting
//         |                     |               |
//         +--refused------------+--replaced-----+--close()----> closed

import { COSTS, FATAL_CLOSES, REPEATABLE, VERSIONS } from "./protocol.js";
import { Throttle } from "./throttle.js";

/** @typedef {import("./messages.js").ClientMessage} ClientMessage */
/** @typedef {import("./messages.js").ServerMessage} ServerMessage */
/** @typedef {import("./messages.js").Refused} Refused */
/** @typedef {import("./messages.js").Welcome} Welcome */
/** @typedef {"connecting"|"open"|"waiting"|"closed"} Phase */
/** @typedef {{name?: string, token?: string, invite?: string}} Credentials */
/** @typedef {{type: string, [field: string]: unknown}} Asked a request without its id */
/** @typedef {Pick<Storage, "getItem"|"setItem"|"removeItem">} Store */
/**
 * @typedef {object} Pending
 * @property {Asked & {id: number}} message
 * @property {(answer: any) => void} resolve
 * @property {(refusal: Refusal) => void} reject
 * @property {boolean} sent
 * @property {number} at when it was sent
 * @property {number} hops how many redirects it has followed
 */

const FIRST_PAUSE_MS = 150;
const LONGEST_PAUSE_MS = 5_000;
const STABLE_MS = 5_000;
const HELLO_MS = 10_000;
const ANSWER_MS = 30_000;
const TRANSIENT = new Set(["rate_limited", "unavailable", "internal", "elsewhere"]);
const AGENT = "kibitz web";
const MOST_HOPS = 5;
/** Attempts at a server that a redirect named, which may not recognize the player at once. */
const MOST_TRIES = 3;

export class Refusal extends Error {
  /**
   * @param {string} code
   * @param {string} message
   * @param {string} [hint]
   * @param {number | null} [retryAfterMs]
   */
  constructor(code, message, hint = "", retryAfterMs = null) {
    super(message);
    this.name = "Refusal";
    this.code = code;
    this.hint = hint;
    this.retryAfterMs = retryAfterMs;
  }

  /** @param {Refused} refused */
  static of(refused) {
    const { code, message, hint, retry_after_ms } = refused;
    return new Refusal(code, message, hint, retry_after_ms ?? null);
  }
}

export class Connection extends EventTarget {
  /** @type {Welcome | null} the newest welcome */
  welcome = null;
  /** @type {Phase} */
  phase = "closed";
  /** @type {Refusal | null} why the session is closed */
  error = null;
  /** @type {number} when the next attempt is due, while waiting */
  retryAt = 0;

  #url;
  /** @type {string} the server to connect to: the own one, or another one of its cluster */
  #present;
  /** @type {string[]} */
  #others = [];
  /** @type {string | null} what lets this player in where it was sent */
  #ticket = null;
  /** How many redirects hello has followed without a pause. */
  #hops = 0;
  /** Failed attempts to be admitted at the server that a redirect named. */
  #tries = 0;
  #store;
  /** @type {Credentials} */
  #hello;
  /** @type {WebSocket | null} */
  #socket = null;
  /** @type {Map<number, Pending>} */
  #pending = new Map();
  /** @type {Throttle | null} */
  #throttle = null;
  /** @type {ReturnType<typeof setTimeout> | undefined} the pause before the next attempt */
  #retry;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #patience;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #flush;
  /** @type {{resolve: (welcome: Welcome) => void, reject: (refusal: Refusal) => void}[]} */
  #openers = [];
  #failures = 0;
  #openedAt = 0;
  #notBefore = 0;
  #lastId = 0;
  #helloId = 0;
  #resumed = false;
  /** @type {string | null} the secret, where it cannot be stored */
  #memory = null;
  #instance = randomSecret();

  /**
   * @param {{url: string, hello?: Credentials, storage: Store}} options
   *   `url` is that of the websocket; `storage` keeps the secret of this player across visits
   */
  constructor({ url, hello = {}, storage }) {
    super();
    this.#url = url;
    this.#present = url;
    this.#hello = hello;
    this.#store = storage;
  }

  /** Whether there are credentials for hello. */
  get knowsWho() {
    return Boolean(this.#hello.token || this.#hello.name || this.#secret);
  }

  /** The storage key of the secret for reconnecting; it does not contain the secret. */
  get #key() {
    const { host, pathname } = new URL(this.#url);
    // Another server may be below another path of the same proxy.
    return `kibitz.resume.${host}${pathname.replace(/\/(?:ws)?$/, "")}`;
  }

  /** @returns {string | null} */
  get #secret() {
    try {
      return this.#store.getItem(this.#key) ?? this.#memory;
    } catch {
      return this.#memory; // storage may be forbidden
    }
  }

  /**
   * Connect, and resolve with the welcome. Rejects with a `Refusal` if the server does not admit
   * this player; keeps trying while the server is unreachable.
   * @returns {Promise<Welcome>}
   */
  open() {
    if (this.phase === "open" && this.welcome) return Promise.resolve(this.welcome);
    return new Promise((resolve, reject) => {
      this.#openers.push({ resolve, reject });
      if (this.phase === "closed") {
        this.error = null;
        this.#connect();
      }
    });
  }

  /**
   * Sign in: with a name as a guest, or with an account's token.
   * @param {Credentials} hello
   */
  signIn(hello) {
    this.#forget();
    this.#hello = hello;
    return this.open();
  }

  /** Sign out: forget the credentials. */
  signOut() {
    this.#forget();
    this.#hello = {};
    this.welcome = null;
    this.#end(new Refusal("unauthorized", "signed out"));
  }

  /** End the session from this side; requests without an answer are rejected. */
  close() {
    this.#end(new Refusal("closed", "the connection was closed"));
  }

  /** Try to connect now instead of after the pause, such as when the network is back. */
  retryNow() {
    if (this.phase === "waiting" && Date.now() >= this.#notBefore) this.#connect();
  }

  /**
   * Send a request, and resolve with its answer; across reconnects. Rejects with a `Refusal`.
   * @param {Asked} message without id
   * @returns {Promise<any>}
   */
  request(message) {
    if (this.phase === "closed") {
      return Promise.reject(this.error ?? new Refusal("closed", "not connected"));
    }
    return new Promise((resolve, reject) => {
      const id = this.#newId();
      const asked = { ...message, id };
      this.#pending.set(id, { message: asked, resolve, reject, sent: false, at: 0, hops: 0 });
      this.#send();
    });
  }

  // --- connecting -----------------------------------------------------------------------

  #connect() {
    clearTimeout(this.#retry);
    this.#setPhase("connecting");
    const socket = new WebSocket(this.#present);
    this.#socket = socket;
    this.#patience = setTimeout(() => this.#lose(socket, 0), HELLO_MS);
    socket.onopen = () => this.#sayHello(socket);
    socket.onmessage = ({ data }) => {
      if (socket === this.#socket) this.#receive(data);
    };
    socket.onclose = ({ code, reason }) => this.#lose(socket, code, reason);
  }

  /** @param {WebSocket} socket */
  #sayHello(socket) {
    this.#helloId = this.#newId();
    const { name, token } = this.#hello;
    const resume = token ? null : this.#secret;
    this.#resumed = Boolean(resume);
    const ticket = this.#ticket;
    const who = ticket ? { ticket } : token ? { token } : resume ? { resume } : { name };
    socket.send(
      JSON.stringify({
        type: "hello",
        id: this.#helloId,
        versions: VERSIONS,
        kind: "human",
        views: "drawn",
        agent: AGENT,
        instance: this.#instance,
        ...who,
      }),
    );
  }

  /**
   * @param {WebSocket} socket
   * @param {number} code
   * @param {string} [reason]
   */
  #lose(socket, code, reason = "") {
    if (socket !== this.#socket) return;
    this.#drop();
    if (this.phase === "connecting") this.#tryNext();
    const fatal = FATAL_CLOSES[code];
    if (fatal) this.#end(new Refusal("replaced", fatal));
    else this.#wait(reason);
  }

  /** Let go of the socket. */
  #drop() {
    clearTimeout(this.#patience);
    clearTimeout(this.#flush);
    this.#flush = undefined;
    const socket = this.#socket;
    this.#socket = null;
    this.#throttle = null;
    if (socket) {
      socket.onopen = socket.onmessage = socket.onclose = null;
      socket.close();
    }
  }

  /** Connect to the next server, because the present one is unreachable or admits nobody. */
  #tryNext() {
    this.#ticket = null;
    const known = [this.#url, ...this.#others];
    this.#present = known[(known.indexOf(this.#present) + 1) % known.length] ?? this.#url;
  }

  /**
   * Follow a redirect to another server.
   * @param {{url: string, ticket: string}} redirect
   */
  #follow({ url, ticket }) {
    this.#present = url;
    this.#ticket = ticket;
    this.#tries = 0;
    this.#drop();
    this.#giveUpSent("it goes on elsewhere");
    this.#connect();
  }

  /** @param {string} [reason] */
  #wait(reason = "") {
    if (this.phase === "open" && Date.now() - this.#openedAt >= STABLE_MS) this.#failures = 0;
    this.#failures += 1;
    this.#hops = 0;
    this.#giveUpSent(reason);
    const bound = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (this.#failures - 1));
    const pause = bound * (0.5 + Math.random() / 2);
    this.retryAt = Math.max(Date.now(), this.#notBefore) + pause;
    this.#retry = setTimeout(() => this.#connect(), this.retryAt - Date.now());
    this.#setPhase("waiting");
  }

  /**
   * Reject the requests whose answers were lost and that may not be sent again.
   * @param {string} reason
   */
  #giveUpSent(reason) {
    for (const [id, pending] of this.#pending) {
      if (pending.sent && !REPEATABLE.has(pending.message.type)) {
        this.#pending.delete(id);
        pending.reject(
          new Refusal("unanswered", "the connection broke before the server answered", reason),
        );
      }
      pending.sent = false;
    }
  }

  /** @param {Refusal} error */
  #end(error) {
    clearTimeout(this.#retry);
    this.#drop();
    this.error = error;
    const lost = [...this.#pending.values(), ...this.#openers];
    this.#pending.clear();
    this.#openers = [];
    this.#setPhase("closed");
    for (const request of lost) request.reject(error);
  }

  // --- messages ---------------------------------------------------------------------------

  /** @param {unknown} data */
  #receive(data) {
    /** @type {ServerMessage} */
    const message = JSON.parse(String(data));
    if ("re" in message && typeof message.re === "number") this.#answer(message);
    else this.#tell(message);
  }

  /** @param {ServerMessage} message */
  #tell(message) {
    if (message.type === "farewell") {
      this.#notBefore = Date.now() + (message.retry_after_ms ?? 0);
    }
    this.dispatchEvent(new CustomEvent("news", { detail: message }));
  }

  /** @param {ServerMessage & {re: number}} answer */
  #answer(answer) {
    if (answer.re === this.#helloId) {
      this.#greet(answer);
      return;
    }
    const pending = this.#pending.get(answer.re);
    if (!pending) {
      if (answer.type === "refused") this.#tell(answer);
      return;
    }
    if (answer.type === "refused") {
      this.#refuse(pending, answer);
    } else {
      this.#pending.delete(answer.re);
      pending.resolve(answer);
    }
  }

  /**
   * Pass a refusal on, or resend a rate-limited request later if that is harmless.
   * @param {Pending} pending
   * @param {Refused} refused
   */
  #refuse(pending, refused) {
    if (refused.redirect && pending.hops < MOST_HOPS) {
      pending.hops += 1;
      pending.sent = false;
      this.#follow(refused.redirect);
      return;
    }
    const again = refused.code === "rate_limited" && REPEATABLE.has(pending.message.type);
    if (again) {
      this.#throttle?.drain(refused.retry_after_ms ?? 1_000, performance.now());
      pending.sent = false;
      this.#send();
      return;
    }
    this.#pending.delete(pending.message.id);
    pending.reject(Refusal.of(refused));
  }

  /** @param {ServerMessage & {re: number}} answer to hello */
  #greet(answer) {
    clearTimeout(this.#patience);
    if (answer.type === "welcome") {
      this.#open(answer);
    } else if (answer.type === "refused" && answer.redirect && this.#hops < MOST_HOPS) {
      this.#hops += 1;
      this.#follow(answer.redirect);
    } else if (answer.type === "refused" && TRANSIENT.has(answer.code)) {
      this.#notBefore = Date.now() + (answer.retry_after_ms ?? 0);
      this.#drop();
      // After a redirect this server will soon recognize the player; otherwise another one may
      // admit it. A server that has lost its database admits nobody, while others still redirect
      // players there.
      this.#tries += 1;
      if (!this.#ticket || this.#tries >= MOST_TRIES) this.#tryNext();
      this.#wait(answer.message);
    } else if (answer.type === "refused" && this.#ticket) {
      this.#drop();
      this.#tryNext(); // the ticket came too late
      this.#wait(answer.message);
    } else if (answer.type === "refused" && this.#mayComeAnew(answer)) {
      this.#forget();
      this.#drop();
      this.#wait(answer.message);
    } else if (answer.type === "refused") {
      if (this.#resumed) this.#forget();
      this.#end(Refusal.of(answer));
    }
  }

  /**
   * Whether to send hello by name if the server no longer accepts the secret.
   * @param {Refused} refused
   */
  #mayComeAnew(refused) {
    return refused.code === "unauthorized" && this.#resumed && Boolean(this.#hello.name);
  }

  /** @param {Welcome} welcome */
  #open(welcome) {
    this.welcome = welcome;
    this.#ticket = null;
    this.#hops = 0;
    this.#others = welcome.nodes ?? [];
    const secret = welcome.resume || this.#hello.token;
    if (secret) this.#keep(secret); // admitted by a ticket, the player keeps the earlier secret
    this.#hello = { name: welcome.kind === "human" ? welcome.name : undefined };
    this.#openedAt = Date.now();
    const { messages_per_second, burst } = welcome.limits;
    this.#throttle = new Throttle(messages_per_second, burst, performance.now());
    this.#throttle.take(COSTS.hello ?? 1, performance.now());
    this.#setPhase("open");
    const openers = this.#openers;
    this.#openers = [];
    for (const { resolve } of openers) resolve(welcome);
    this.dispatchEvent(new CustomEvent("welcome", { detail: welcome }));
    this.#send();
  }

  /** Send queued requests: rejoins first, which moves need; the rest in order, within the limit. */
  #send() {
    if (this.phase !== "open" || !this.#socket || !this.#throttle) return;
    const waiting = [...this.#pending.values()].filter((pending) => !pending.sent);
    const first = waiting.filter((pending) => pending.message.type === "rejoin");
    for (const pending of [...first, ...waiting]) {
      if (pending.sent) continue;
      const wait = this.#throttle.take(COSTS[pending.message.type] ?? 1, performance.now());
      if (wait) {
        this.#flush ??= setTimeout(() => {
          this.#flush = undefined;
          this.#send();
        }, wait);
        break;
      }
      pending.sent = true;
      pending.at = performance.now();
      this.#socket.send(JSON.stringify(pending.message));
    }
    this.#watchSilence();
  }

  /** Give up a server that leaves requests unanswered for long, even if TCP is still open. */
  #watchSilence() {
    clearTimeout(this.#patience);
    const sent = [...this.#pending.values()].filter((pending) => pending.sent);
    const socket = this.#socket;
    if (!sent.length || !socket) return;
    const oldest = Math.min(...sent.map((pending) => pending.at));
    const check = () => {
      const late = [...this.#pending.values()].some(
        (pending) => pending.sent && performance.now() - pending.at >= ANSWER_MS,
      );
      if (late) this.#lose(socket, 0, "no answer");
      else this.#watchSilence();
    };
    this.#patience = setTimeout(check, Math.max(0, oldest + ANSWER_MS - performance.now()) + 1);
  }

  // --- small parts --------------------------------------------------------------------------

  /** Larger than all before, also those of an earlier visit as the same player. */
  #newId() {
    const fresh = Date.now() * 1000 + Math.floor(Math.random() * 1000);
    this.#lastId = Math.max(this.#lastId + 1, fresh);
    return this.#lastId;
  }

  /** @param {string} secret */
  #keep(secret) {
    try {
      this.#store.setItem(this.#key, secret);
    } catch {
      // without storage the player is known for as long as this page is open
    }
    this.#memory = secret;
  }

  #forget() {
    this.#memory = null;
    try {
      this.#store.removeItem(this.#key);
    } catch {
      // there was none
    }
  }

  /** @param {Phase} phase */
  #setPhase(phase) {
    if (this.phase === phase) return;
    this.phase = phase;
    this.dispatchEvent(new CustomEvent("phase", { detail: phase }));
  }
}

function randomSecret() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
