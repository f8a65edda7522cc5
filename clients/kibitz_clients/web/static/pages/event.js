// A running event, live: its table, claims, pairings and boards, from the document that the arena
// writes.

import { at } from "../parts/address.js";
import { BoardGrid } from "../parts/board_grid.js";
import { h, fill } from "../parts/dom.js";
import {
  claimLine, crosstable, facts, gameLine, pairingLine, standings,
} from "../parts/event_tables.js";
import { useStyles } from "../parts/wall_styles.js";
import { Hall, newest } from "../wire/hall.js";

/** @typedef {import("../main.js").App} App */
/** @typedef {import("../parts/event_tables.js").LiveEvent} LiveEvent */

const POLL_MS = 1500;
const LATEST = 12;

/**
 * @param {HTMLElement} root
 * @param {App} app
 */
export async function show(root, app) {
  document.title = "Event - kibitz";
  await Promise.all([app.games.list(), useStyles()]);
  const page = new EventPage(root, app);
  await page.open();
  return () => page.close();
}

class EventPage {
  /** @type {LiveEvent | null} */
  #event = null;
  #tag = "";
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #poll;
  #closed = false;
  /** @type {BoardGrid | null} */
  #grid = null;

  /**
   * @param {HTMLElement} root
   * @param {App} app
   */
  constructor(root, app) {
    this.root = root;
    this.app = app;
    this.hall = new Hall(app.connection);
    this.hall.addEventListener("change", () => this.#drawMatches());
    this.head = h("h1", null, "Event");
    this.facts = h("p", { class: "lead" });
    this.bar = h("progress", { class: "event-bar", "aria-label": "Games played" });
    this.table = h("div", {
      class: "scroll", tabindex: 0, role: "region", "aria-label": "Table of the event",
    });
    this.claims = h("ul", { class: "lines" });
    this.running = h("ul", { class: "lines" });
    this.next = h("ul", { class: "lines" });
    this.latest = h("ul", { class: "lines" });
    this.cross = h("div", {
      class: "scroll", tabindex: 0, role: "region", "aria-label": "Cross-table of the event",
    });
    this.boards = h("div", { class: "event-boards" });
    this.claimsPart = part("Claims", this.claims);
    this.nextPart = part("Next", this.next);
    this.body = h("div", { class: "event" },
      h("div", { class: "event-main" },
        part("Table", this.table), this.claimsPart, part("Cross-table", this.cross)),
      h("div", { class: "event-side" },
        part("Boards", this.boards), part("Playing now", this.running), this.nextPart,
        part("Latest results", this.latest)));
    this.nothing = h("p", { class: "empty" },
      "No event is running on this server. Run ", h("code", null, "kibitz arena EVENT.yaml"),
      " to start one; it prints the address of its page.");
  }

  async open() {
    await this.#read();
    await this.hall.open();
  }

  close() {
    this.#closed = true;
    clearTimeout(this.#poll);
    this.hall.close();
    this.#grid?.close();
  }

  /** Read the document periodically; the server does not resend an unchanged one. */
  async #read() {
    try {
      const answer = await fetch(at("/event.json"));
      const tag = answer.headers.get("ETag") ?? "";
      if (answer.ok && (tag !== this.#tag || !tag)) {
        this.#tag = tag;
        this.#event = await answer.json();
        if (!this.#closed) this.#draw();
      }
    } catch {
      // The server is unreachable; the status line says so, and the data remains on the page.
    }
    if (!this.#closed) this.#poll = setTimeout(() => void this.#read(), POLL_MS);
  }

  #draw() {
    const event = this.#event;
    if (!event) {
      fill(this.root, this.head, this.nothing);
      return;
    }
    if (!this.body.isConnected) fill(this.root, this.head, this.facts, this.bar, this.body);
    const { results } = event;
    document.title = `${results.event.name} - kibitz`;
    this.head.textContent = results.event.name;
    this.facts.textContent = facts(results, this.app.games.title(results.event.game));
    this.bar.max = results.planned;
    this.bar.value = results.played;
    fill(this.table, standings(results));
    fill(this.cross, crosstable(results));
    this.claimsPart.hidden = results.claims.length === 0;
    fill(this.claims, results.claims.map(claimLine));
    this.nextPart.hidden = event.next.length === 0;
    fill(this.next, event.next.slice(0, LATEST).map((pairing) => pairingLine(pairing, null)));
    const latest = results.games.slice(-LATEST).reverse();
    fill(this.latest, latest.length ? latest.map(gameLine) : h("li", { class: "muted" }, "Nothing yet."));
    this.#drawMatches();
  }

  /** Update the boards and the match of each running game. */
  #drawMatches() {
    const event = this.#event;
    if (!event) return;
    const matches = newest(this.hall.view?.matches ?? {}).filter((brief) => brief.lobby === event.lobby);
    const byTag = new Map(matches.map((brief) => [brief.tag, brief.match]));
    fill(this.running, event.running.length
      ? event.running.map((pairing) => pairingLine(pairing, byTag.get(pairing.tag) ?? null))
      : h("li", { class: "muted" }, "No games are being played."));
    if (!this.hall.view) return;
    this.#grid ??= new BoardGrid(this.boards, this.app);
    this.#grid.show(matches);
  }
}

/**
 * @param {string} title
 * @param {HTMLElement} content
 */
function part(title, content) {
  return h("section", { class: "card" }, h("h2", null, title), content);
}
