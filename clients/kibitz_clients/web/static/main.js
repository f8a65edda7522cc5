// Starts the application: the connection, the header, and the page of the current address.

import { at, here, websocketAddress } from "./parts/address.js";
import { Attention } from "./parts/attention.js";
import { h, fill } from "./parts/dom.js";
import { header } from "./parts/header.js";
import { Theme } from "./parts/theme.js";
import { Router } from "./router.js";
import { Connection, Refusal } from "./wire/connection.js";
import { Games } from "./wire/games.js";
import { Lobbies } from "./wire/lobbies.js";
import { Matches } from "./wire/matches.js";

/** @typedef {import("./wire/match.js").MatchModel} MatchModel */
/** @typedef {import("./wire/messages.js").ServerMessage} ServerMessage */
/** @typedef {"plain"|"good"|"bad"} Tone */

export class App {
  /** @type {string} the invite code in the opened address, for the lobby of that address */
  invite = "";
  /** @type {Refusal | null} why the server did not admit this player */
  refusal = null;
  /** The lobby whose next match opens as soon as it begins. */
  awaited = "";
  /** @type {(page: string) => void} called with the page that is shown */
  moved = () => {};
  #status = /** @type {HTMLElement} */ (document.getElementById("status"));
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #silence;

  /** @param {Connection} connection */
  constructor(connection) {
    this.connection = connection;
    this.theme = new Theme(storageOrNone("localStorage"));
    this.attention = new Attention(storageOrNone("localStorage"));
    this.games = new Games(connection);
    this.lobbies = new Lobbies();
    this.matches = new Matches(connection);
    this.router = new Router(/** @type {HTMLElement} */ (document.getElementById("page")), this);
    connection.addEventListener("news", (event) => {
      this.lobbies.take(/** @type {CustomEvent<ServerMessage>} */ (event).detail);
    });
  }

  /**
   * Go to a page.
   * @param {string} path
   */
  navigate(path) {
    return this.router.navigate(path);
  }

  /**
   * Show a message in the status line, which screen readers announce.
   * @param {string} text
   * @param {Tone} [tone]
   * @param {HTMLElement} [action] such as a link, shown beside it
   */
  say(text, tone = "plain", action) {
    clearTimeout(this.#silence);
    this.#status.dataset.tone = tone;
    fill(this.#status, text, action && " ", action);
    if (!action) this.#silence = setTimeout(() => fill(this.#status), 8_000);
  }

  /** Clear the status line. */
  hush() {
    clearTimeout(this.#silence);
    fill(this.#status);
  }

  /**
   * Show an error and what to do about it.
   * @param {unknown} error
   */
  sayError(error) {
    if (error instanceof Refusal) {
      this.say(error.hint ? `${error.message}: ${error.hint}` : error.message, "bad");
    } else {
      console.error(error);
      this.say(error instanceof Error ? error.message : String(error), "bad");
    }
  }

  /** Connect, and show the page, or the sign-in page if the server admits no viewers. */
  async enter() {
    try {
      await this.connection.open();
      this.refusal = null;
      await this.router.show(here() === "/sign-in" && !this.connection.isViewer ? "hall" : undefined);
    } catch (error) {
      this.refusal = error instanceof Refusal ? error : null;
      await this.router.show("sign_in");
    }
  }
}

/** Remove secrets from the address before anything else can see them. */
function takeFragment() {
  const given = new URLSearchParams(location.hash.slice(1));
  const token = given.get("token") ?? undefined;
  const invite = given.get("invite") ?? "";
  if (token || invite) history.replaceState(null, "", location.pathname + location.search);
  return { token, invite };
}

/**
 * @param {"localStorage"|"sessionStorage"} which
 * @returns {Pick<Storage, "getItem"|"setItem"|"removeItem">}
 */
function storageOrNone(which) {
  try {
    return window[which];
  } catch {
    return { getItem: () => null, setItem: () => {}, removeItem: () => {} };
  }
}

const OFFLINE = "You are offline. The page will reconnect when the network is back.";

/** @param {App} app */
function followConnection(app) {
  const { connection } = app;
  connection.addEventListener("state", () => {
    const { state, error, retryAt } = connection;
    if (state === "away" && retryAt) {
      app.say(navigator.onLine ? "Connection lost. Reconnecting…" : OFFLINE, "bad", button("Retry now", () => connection.retryNow()));
    } else if (state === "online") {
      app.hush();
    } else if (state === "ended" && error?.code === "replaced") {
      app.say(`Disconnected: ${error.message}.`, "bad", button("Continue here", () => app.enter()));
    }
  });
  addEventListener("offline", () => app.say(OFFLINE, "bad"));
  addEventListener("online", () => {
    if (connection.state === "online") app.hush();
    else connection.retryNow();
  });
  app.matches.addEventListener("started", (event) => {
    const model = /** @type {CustomEvent<MatchModel>} */ (event).detail;
    const path = `/match/${model.id}`;
    const { lobby } = model.snapshot ?? {};
    if (here() === `/lobby/${lobby}` || (lobby && app.awaited === lobby)) {
      app.awaited = "";
      void app.navigate(path);
    }
    else if (here() !== path && here() !== `/rules/${model.game}`) {
      app.say("Your match has started.", "good", h("a", { href: at(path) }, "Go to the board"));
    }
  });
}

/**
 * @param {string} text
 * @param {() => void} press
 */
function button(text, press) {
  return h("button", { type: "button", class: "small", onclick: press }, text);
}

/** Make the icon's address absolute; a relative one would change with each navigation. */
function fixIcon() {
  const icon = /** @type {HTMLLinkElement | null} */ (document.querySelector("link[rel='icon']"));
  if (icon) icon.href = new URL(icon.href).href;
}

/** Pages for unattended screens, which do not interact with other windows. */
const UNATTENDED = ["/wall", "/event"];

fixIcon();
const { token, invite } = takeFragment();
const unattended = UNATTENDED.includes(here());
const app = new App(
  new Connection({
    url: websocketAddress(),
    hello: token ? { token } : {},
    storage: unattended ? storageOrNone("sessionStorage") : storageOrNone("localStorage"),
  }),
);
app.invite = invite;
app.moved = header(/** @type {HTMLElement} */ (document.getElementById("header")), app);
followConnection(app);
void app.enter();
