// One session with the server over any number of websockets: hello, requests, reconnects.
//
// A session outlives its sockets. When one is lost the next is opened after a growing, randomized
// pause, hello carries the secret of the first welcome, and unanswered requests are resent: the
// server carries each out once. The pages restore what they followed: on "welcome" they rejoin,
// watch and subscribe again, before the old requests are sent.
//
// In a cluster another server may have the match or lobby of a request: the refusal then contains
// its address and a ticket (`redirect`). While a server is unreachable, the session tries the
// others in turn.
//
// The states and their steps are those of the Python client (`kibitz_protocol/client/session.py`).
// Here, a session begins in "ended" and can be opened again. "away" includes opening a socket.
//
//     away --connected--> greeting --welcome--> online        any --over--> ended --opened--> away
//      ^                     |                    |
//      +--lost, redirect-----+--lost, redirect----+

import { Addresses, MOST_HOPS } from "./addresses.js";
import { COSTS, FATAL_CLOSES, VERSIONS } from "./protocol.js";
import { Secret } from "./secret.js";
import { Throttle } from "./throttle.js";

/** @typedef {import("./messages.js").ClientMessage} ClientMessage */
/** @typedef {import("./messages.js").ServerMessage} ServerMessage */
/** @typedef {import("./messages.js").Refused} Refused */
/** @typedef {import("./messages.js").Welcome} Welcome */
/** @typedef {{name?: string, token?: string, invite?: string}} Credentials */
/** @typedef {{type: string, [field: string]: unknown}} Asked a request without its id */
/** @typedef {import("./secret.js").Store} Store */
/** @typedef {ReturnType<typeof setTimeout>} Timer */
/**
 * @typedef {object} Away there is no connection
 * @property {"away"} name
 * @property {number} retryAt when the pause after a lost connection ends, or 0
 * @property {number} notBefore the server asked for no attempt before this time
 * @property {WebSocket} [socket] the one being opened
 * @property {Timer} [timer] ends the pause, then the attempt to open the socket
 */
/**
 * @typedef {object} Greeting hello has no answer yet
 * @property {"greeting"} name
 * @property {WebSocket} socket
 * @property {number} notBefore
 * @property {number} helloId
 * @property {boolean} resumed whether hello carried the secret
 * @property {Timer} [timer] ends the wait for the answer
 */
/**
 * @typedef {object} Online the server has said welcome
 * @property {"online"} name
 * @property {WebSocket} socket
 * @property {number} notBefore
 * @property {number} since
 * @property {Throttle} throttle
 * @property {Timer} [timer] ends the wait for the oldest answer
 * @property {Timer} [flush] sends the next request
 */
/**
 * @typedef {object} Ended
 * @property {"ended"} name
 * @property {Refusal | null} error why the session is over
 * @property {undefined} [socket]
 * @property {undefined} [timer]
 */
/** @typedef {Away | Greeting | Online | Ended} State */
/**
 * @typedef {object} Pending
 * @property {Asked & {id: number}} message
 * @property {(answer: any) => void} resolve
 * @property {(refusal: Refusal) => void} reject
 * @property {boolean} sent
 * @property {number} at when it was sent
 * @property {number} hops how many redirects it has followed
 * @property {number} behind the id of a request whose answer it needs first, or 0
 */

const FIRST_PAUSE_MS = 150;
const LONGEST_PAUSE_MS = 5_000;
const STABLE_MS = 5_000;
const HELLO_MS = 10_000;
const ANSWER_MS = 30_000;
const TRANSIENT = new Set(["rate_limited", "unavailable", "internal", "elsewhere"]);
/** The requests that need a place in their match, and the refusals of those without one. */
const NEED_PLACE = new Set(["move", "resign", "leave_match", "note", "comment"]);
const WITHOUT_PLACE = new Set(["not_seated", "wrong_state"]);
const AGENT = "kibitz web";

/** @type {Record<State["name"], Record<string, State["name"]>>} the next state for each step */
export const TRANSITIONS = {
  away: { connected: "greeting", lost: "away", over: "ended" },
  greeting: { welcome: "online", redirect: "away", lost: "away", over: "ended" },
  online: { redirect: "away", lost: "away", over: "ended" },
  ended: { opened: "away" },
};

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
  /** @type {State} */
  #current = { name: "ended", error: null };
  #addresses;
  #secret;
  /** @type {Credentials} */
  #hello;
  #kind;
  /** @type {Map<number, Pending>} */
  #pending = new Map();
  /** @type {{resolve: (welcome: Welcome) => void, reject: (refusal: Refusal) => void}[]} */
  #openers = [];
  #failures = 0;
  #lastId = 0;
  #instance = randomSecret();

  /**
   * @param {{url: string, hello?: Credentials, storage: Store, kind?: "bot" | "human"}} options
   *   `url` is that of the websocket; `storage` keeps this player's secret across visits
   */
  constructor({ url, hello = {}, storage, kind = "human" }) {
    super();
    this.#addresses = new Addresses(url);
    this.#secret = new Secret(url, storage);
    this.#hello = hello;
    this.#kind = kind;
  }

  get state() {
    return this.#current.name;
  }

  /** Why the session is over, if it is. */
  get error() {
    return this.#current.name === "ended" ? this.#current.error : null;
  }

  /** When the next attempt is due, after a connection was lost; otherwise 0. */
  get retryAt() {
    return this.#current.name === "away" ? this.#current.retryAt : 0;
  }

  /** Whether this is an anonymous viewer, who may only watch. */
  get isViewer() {
    return this.welcome?.viewer ?? !this.knowsWho;
  }

  /** Whether there are credentials for hello. */
  get knowsWho() {
    return Boolean(this.#hello.token || this.#hello.name || this.#secret.value);
  }

  /**
   * Connect, and resolve with the welcome. Rejects with a `Refusal` if the server does not admit
   * this player; keeps trying while the server is unreachable.
   * @returns {Promise<Welcome>}
   */
  open() {
    if (this.state === "online" && this.welcome) return Promise.resolve(this.welcome);
    return new Promise((resolve, reject) => {
      this.#openers.push({ resolve, reject });
      if (this.state === "ended") this.#goAway("opened");
    });
  }

  /**
   * Sign in as a guest with a name, as an account with a token, or as a viewer with neither. The
   * previous session ends.
   * @param {Credentials} hello
   */
  signIn(hello) {
    this.#secret.forget();
    this.#hello = hello;
    this.#end(new Refusal("closed", "signing in"));
    return this.open();
  }

  /** Sign out: forget the credentials. */
  signOut() {
    this.#secret.forget();
    this.#hello = {};
    this.welcome = null;
    this.#end(new Refusal("unauthorized", "signed out"));
  }

  /** End the session; unanswered requests are rejected. */
  close() {
    this.#end(new Refusal("closed", "the connection was closed"));
  }

  /** Connect now instead of after the pause, such as when the network is back. */
  retryNow() {
    const away = this.#current;
    if (away.name === "away" && !away.socket && Date.now() >= away.notBefore) this.#connect(away);
  }

  /**
   * Send a request, and resolve with its answer, across reconnects. Rejects with a `Refusal`.
   * @param {Asked} message without id
   * @returns {Promise<any>}
   */
  request(message) {
    if (this.state === "ended") {
      return Promise.reject(this.error ?? new Refusal("closed", "not connected"));
    }
    return new Promise((resolve, reject) => {
      const id = this.#newId();
      const asked = { ...message, id };
      this.#pending.set(id, { message: asked, resolve, reject, sent: false, at: 0, hops: 0, behind: 0 });
      this.#send();
    });
  }

  // --- states ---------------------------------------------------------------------------

  /**
   * Change the state; every change passes through here. The old socket is closed unless the next
   * state keeps it.
   * @param {string} step
   * @param {State} next
   */
  #enter(step, next) {
    const last = this.#current;
    if (TRANSITIONS[last.name][step] !== next.name) {
      throw new Error(`${step} cannot lead from ${last.name} to ${next.name}`);
    }
    clearTimeout(last.timer);
    if (last.name === "online") clearTimeout(last.flush);
    if (last.socket && last.socket !== next.socket) {
      last.socket.onopen = last.socket.onmessage = last.socket.onclose = null;
      last.socket.close();
    }
    this.#current = next;
    this.dispatchEvent(new CustomEvent("state", { detail: next.name }));
  }

  /**
   * Connect at once, or at `retryAt`.
   * @param {string} step
   * @param {{retryAt?: number, notBefore?: number}} [pause]
   */
  #goAway(step, { retryAt = 0, notBefore = 0 } = {}) {
    /** @type {Away} */
    const away = { name: "away", retryAt, notBefore };
    if (retryAt) away.timer = setTimeout(() => this.#connect(away), retryAt - Date.now());
    this.#enter(step, away);
    if (!retryAt) this.#connect(away);
  }

  /** @param {Away} away */
  #connect(away) {
    if (this.#current !== away) return; // a listener has closed the session
    clearTimeout(away.timer);
    const socket = new WebSocket(this.#addresses.present);
    away.socket = socket;
    away.timer = setTimeout(() => this.#lost(0), HELLO_MS);
    socket.onopen = () => this.#connected(socket, away.notBefore);
    socket.onmessage = ({ data }) => this.#receive(data);
    socket.onclose = ({ code }) => this.#lost(code);
  }

  /**
   * @param {WebSocket} socket
   * @param {number} notBefore
   */
  #connected(socket, notBefore) {
    const helloId = this.#newId();
    const { name, token } = this.#hello;
    const resume = token ? null : this.#secret.value;
    const { ticket } = this.#addresses;
    const who = ticket ? { ticket } : token ? { token } : resume ? { resume } : name ? { name } : { viewer: true };
    const timer = setTimeout(() => this.#lost(0), HELLO_MS);
    this.#enter("connected", {
      name: "greeting", socket, notBefore, helloId, resumed: Boolean(resume), timer,
    });
    socket.send(
      JSON.stringify({
        type: "hello",
        id: helloId,
        versions: VERSIONS,
        kind: this.#kind,
        views: "drawn",
        agent: AGENT,
        instance: this.#instance,
        ...who,
      }),
    );
  }

  /**
   * The connection broke or could not be opened.
   * @param {number} code
   */
  #lost(code) {
    if (this.state !== "online") this.#addresses.tryNext();
    const fatal = FATAL_CLOSES[code];
    if (fatal) this.#end(new Refusal("replaced", fatal));
    else this.#wait();
  }

  /**
   * Wait for the next attempt.
   * @param {number} [retryAfterMs] the least pause
   */
  #wait(retryAfterMs = 0) {
    const last = this.#current;
    if (last.name === "ended") return;
    if (last.name === "online" && Date.now() - last.since >= STABLE_MS) this.#failures = 0;
    this.#failures += 1;
    this.#addresses.restartHops();
    for (const pending of this.#pending.values()) pending.hops = 0;
    this.#resendAll();
    const bound = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (this.#failures - 1));
    const pause = bound * (0.5 + Math.random() / 2);
    const notBefore = Math.max(Date.now() + retryAfterMs, last.notBefore);
    this.#goAway("lost", { retryAt: notBefore + pause, notBefore });
  }

  /**
   * Follow a redirect to another server.
   * @param {{url: string, ticket: string}} redirect
   */
  #follow(redirect) {
    this.#addresses.follow(redirect);
    this.#resendAll();
    this.#goAway("redirect");
  }

  /** Send the requests without an answer again on the next socket. */
  #resendAll() {
    for (const pending of this.#pending.values()) {
      pending.sent = false;
      pending.behind = 0;
    }
  }

  /** @param {Refusal} error */
  #end(error) {
    if (this.state === "ended") return;
    const lost = [...this.#pending.values(), ...this.#openers];
    this.#pending.clear();
    this.#openers = [];
    this.#enter("over", { name: "ended", error });
    for (const request of lost) request.reject(error);
  }

  // --- messages ---------------------------------------------------------------------------

  /** @param {unknown} data */
  #receive(data) {
    /** @type {ServerMessage} */
    const message = JSON.parse(String(data));
    const now = this.#current;
    if (!("re" in message && typeof message.re === "number")) this.#tell(message);
    else if (now.name === "greeting" && message.re === now.helloId) this.#greet(now, message);
    else if (now.name === "online") this.#answer(now, message);
  }

  /** @param {ServerMessage} message */
  #tell(message) {
    if (message.type === "farewell" && this.#current.name !== "ended") {
      this.#current.notBefore = Date.now() + (message.retry_after_ms ?? 0);
    }
    this.dispatchEvent(new CustomEvent("news", { detail: message }));
  }

  /**
   * @param {Online} online
   * @param {ServerMessage & {re: number}} answer
   */
  #answer(online, answer) {
    const pending = this.#pending.get(answer.re);
    if (!pending) {
      if (answer.type === "refused") this.#tell(answer);
      return;
    }
    if (answer.type === "refused") {
      this.#refuse(online, pending, answer);
    } else {
      this.#pending.delete(answer.re);
      pending.resolve(answer);
    }
    this.#send(); // requests may have waited for this answer
  }

  /**
   * Follow a redirect, or resend the request soon if the server was too busy or failed to write it;
   * otherwise reject it.
   * @param {Online} online
   * @param {Pending} pending
   * @param {Refused} refused
   */
  #refuse(online, pending, refused) {
    if (refused.redirect && pending.hops < MOST_HOPS) {
      pending.hops += 1;
      pending.sent = false;
      this.#follow(refused.redirect);
      return;
    }
    const asked = pending.message.type === "move" || typeof refused.retry_after_ms === "number";
    const lost = refused.code === "unavailable" && asked; // the server rereads its log
    const wait = refused.retry_after_ms ?? 1_000;
    if (lost || (refused.code === "rate_limited" && wait <= LONGEST_PAUSE_MS)) {
      online.throttle.drain(wait, performance.now());
      pending.sent = false;
      this.#send();
      return;
    }
    pending.behind = WITHOUT_PLACE.has(refused.code) ? this.#awaitedPlace(pending.message) : 0;
    if (pending.behind) {
      pending.sent = false;
      return;
    }
    this.#pending.delete(pending.message.id);
    pending.reject(Refusal.of(refused));
  }

  /**
   * Return the id of the request that restores the place in the match that this one lacked, or 0.
   * After a reconnect, the server may refuse a rejoin and ask for it again ("unavailable"), and
   * carry out the requests sent behind it, which then find no seat.
   * @param {Asked} asked
   */
  #awaitedPlace({ type, match }) {
    if (!NEED_PLACE.has(type)) return 0;
    const place = [...this.#pending.values()].find(({ at, message }) =>
      at && (message.type === "rejoin" || message.type === "watch") && message.match === match);
    return place?.message.id ?? 0;
  }

  /**
   * @param {Greeting} greeting
   * @param {ServerMessage & {re: number}} answer to hello
   */
  #greet(greeting, answer) {
    if (answer.type === "welcome") {
      this.#welcome(greeting.socket, answer);
    } else if (answer.type !== "refused") {
      this.#end(new Refusal("garbled", `hello was answered with ${answer.type}`));
    } else if (answer.redirect && this.#addresses.mayRedirectHello()) {
      this.#follow(answer.redirect);
    } else if (TRANSIENT.has(answer.code)) {
      this.#addresses.notLetIn();
      this.#wait(answer.retry_after_ms ?? 0);
    } else if (this.#addresses.ticket) {
      this.#addresses.tryNext(); // the ticket has expired
      this.#wait();
    } else {
      if (greeting.resumed) this.#secret.forget();
      // A server that was killed may not know the guest any more; sign in again by name.
      const byName = greeting.resumed && answer.code === "unauthorized" && this.#hello.name;
      if (byName) this.#wait();
      else this.#end(Refusal.of(answer));
    }
  }

  /**
   * @param {WebSocket} socket
   * @param {Welcome} welcome
   */
  #welcome(socket, welcome) {
    this.welcome = welcome;
    this.#addresses.admitted(welcome.nodes ?? []);
    const secret = welcome.resume || this.#hello.token;
    if (secret) this.#secret.keep(secret); // after a ticket there is none: keep the old one
    this.#hello = welcome.kind === "human" && !welcome.viewer ? { name: welcome.name } : {};
    const { messages_per_second, burst } = welcome.limits;
    const throttle = new Throttle(messages_per_second, burst, performance.now());
    throttle.take(COSTS.hello ?? 1, performance.now());
    this.#enter("welcome", { name: "online", socket, notBefore: 0, since: Date.now(), throttle });
    const openers = this.#openers;
    this.#openers = [];
    for (const { resolve } of openers) resolve(welcome);
    this.dispatchEvent(new CustomEvent("welcome", { detail: welcome }));
    this.#send();
  }

  /**
   * Send queued requests within the rate limit: rejoins first because moves need them, the rest in
   * order.
   */
  #send() {
    const online = this.#current;
    if (online.name !== "online") return;
    const waiting = [...this.#pending.values()].filter(({ sent, behind }) =>
      !sent && !this.#pending.has(behind));
    const first = waiting.filter((pending) => pending.message.type === "rejoin");
    for (const pending of [...first, ...waiting]) {
      if (pending.sent) continue;
      const wait = online.throttle.take(COSTS[pending.message.type] ?? 1, performance.now());
      if (wait) {
        online.flush ??= setTimeout(() => {
          online.flush = undefined;
          this.#send();
        }, wait);
        break;
      }
      pending.sent = true;
      pending.at = performance.now();
      online.socket.send(JSON.stringify(pending.message));
    }
    this.#watchSilence(online);
  }

  /**
   * Drop a server that has not answered for a long time, even if TCP is still open.
   * @param {Online} online
   */
  #watchSilence(online) {
    clearTimeout(online.timer);
    const sent = [...this.#pending.values()].filter((pending) => pending.sent);
    if (!sent.length) return;
    const oldest = Math.min(...sent.map((pending) => pending.at));
    const check = () => {
      const late = [...this.#pending.values()].some(
        (pending) => pending.sent && performance.now() - pending.at >= ANSWER_MS,
      );
      if (late) this.#lost(0);
      else this.#watchSilence(online);
    };
    online.timer = setTimeout(check, Math.max(0, oldest + ANSWER_MS - performance.now()) + 1);
  }

  // --- small parts --------------------------------------------------------------------------

  /** Return an id larger than all before, including those of earlier visits by the same player. */
  #newId() {
    const fresh = Date.now() * 1000 + Math.floor(Math.random() * 1000);
    this.#lastId = Math.max(this.#lastId + 1, fresh);
    return this.#lastId;
  }
}

function randomSecret() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
