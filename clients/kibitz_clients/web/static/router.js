// Application paths and their pages. `match` is pure.

/** @typedef {import("./main.js").App} App */
/** @typedef {(root: HTMLElement, app: App, params: Record<string, string>) =>
 *   Promise<(() => void) | void>} Show */
/** @typedef {{page: string, params: Record<string, string>}} Route */

import { at, here, pathAt } from "./parts/address.js";

const ROUTES = /** @type {const} */ ([
  [/^\/$/, "hall"],
  [/^\/play$/, "play"],
  [/^\/host$/, "host"],
  [/^\/lobby\/(?<code>[A-Za-z0-9_-]{1,64})$/, "lobby"],
  [/^\/match\/(?<id>[A-Za-z0-9_-]{1,64})$/, "match"],
  [/^\/rules\/(?<game>[A-Za-z0-9_-]{1,64})$/, "rules"],
  [/^\/wall$/, "wall"],
  [/^\/event$/, "event"],
  [/^\/ladder$/, "ladder"],
  [/^\/sign-in$/, "sign_in"],
]);

const PLAYERS_ONLY = new Set(["host"]);
const YOUNG_MS = 10_000;

/**
 * Return the page of a path, null if there is none.
 * @param {string} path
 * @returns {Route | null}
 */
export function match(path) {
  for (const [form, page] of ROUTES) {
    const parts = form.exec(path);
    if (parts) return { page, params: { ...parts.groups } };
  }
  return null;
}

export class Router {
  /** @type {() => void} ends the current page */
  #leave = () => {};
  #turn = 0;

  /**
   * @param {HTMLElement} root
   * @param {App} app
   */
  constructor(root, app) {
    this.root = root;
    this.app = app;
    /** @type {string} the current page */
    this.page = "";
    addEventListener("popstate", () => this.show());
    document.addEventListener("click", (event) => this.#follow(event));
  }

  /** @param {string} path an application path with its query */
  navigate(path) {
    const place = at(path);
    if (place !== location.pathname + location.search) history.pushState(null, "", place);
    scrollTo(0, 0);
    return this.show();
  }

  /**
   * Show the page of the current address, or another one instead.
   * @param {string} [instead]
   */
  async show(instead) {
    const turn = ++this.#turn;
    const route = instead ? { page: instead, params: {} } : this.#admitted(match(here()));
    this.#leave();
    this.#leave = () => {};
    this.page = route?.page ?? "";
    this.root.replaceChildren();
    this.app.moved(this.page);
    if (!route) {
      this.#explain("Page not found", "This server has no page at this address.");
      return;
    }
    try {
      const module = await this.#load(route.page);
      if (turn !== this.#turn) return;
      const room = document.createElement("div");
      room.className = `page page-${route.page.replace("_", "-")}`;
      this.root.replaceChildren(room);
      const leave = await module.show(room, this.app, route.params);
      if (turn !== this.#turn) {
        leave?.();
        return;
      }
      this.#leave = leave ?? (() => {});
      if (turn > 1 && !this.root.contains(document.activeElement)) {
        this.root.focus({ preventScroll: true }); // so that keyboard navigation continues from here
      }
    } catch (error) {
      if (turn !== this.#turn) return;
      console.error(error);
      this.#explain("This page could not be shown", error instanceof Error ? error.message : "");
    }
  }

  /**
   * Return the route, or the sign-in page if viewers cannot use it.
   * @param {Route | null} route
   */
  #admitted(route) {
    const denied = route && PLAYERS_ONLY.has(route.page) && this.app.connection.isViewer;
    return denied ? { page: "sign_in", params: {} } : route;
  }

  /**
   * Load the module of a page. After a server upgrade the old files are gone; the whole application
   * is then reloaded, unless that happened just before.
   * @param {string} page
   * @returns {Promise<{show: Show}>}
   */
  async #load(page) {
    try {
      return await import(`./pages/${page}.js`);
    } catch (error) {
      if (performance.now() > YOUNG_MS && navigator.onLine) location.reload();
      throw error;
    }
  }

  /**
   * @param {string} title
   * @param {string} text
   */
  #explain(title, text) {
    const head = document.createElement("h1");
    head.textContent = title;
    const line = document.createElement("p");
    line.textContent = text;
    const back = document.createElement("a");
    back.href = at("/");
    back.textContent = "To the hall";
    this.root.replaceChildren(head, line, back);
    document.title = `${title} - kibitz`;
  }

  /**
   * Handle links inside the application without reloading.
   * @param {MouseEvent} event
   */
  #follow(event) {
    const plain = !event.button && !(event.metaKey || event.ctrlKey || event.shiftKey);
    const target = event.target instanceof Element ? event.target.closest("a") : null;
    if (!plain || event.defaultPrevented || !target?.href || target.target) return;
    if (target.hasAttribute("download")) return;
    const url = new URL(target.href);
    const path = pathAt(url.pathname);
    if (url.origin !== location.origin || !match(path) || url.hash) return;
    event.preventDefault();
    void this.navigate(path + url.search);
  }
}
