// A running event, live: its table, claims, pairings and boards, from the document that the arena
// writes.

import { at } from "../parts/address.js";
import { BoardGrid } from "../parts/board_grid.js";
import { h, fill } from "../parts/dom.js";
import { useStyles } from "../parts/wall_styles.js";
import { Hall, newest } from "../wire/hall.js";

/** @typedef {import("../main.js").App} App */
/**
 * @typedef {{heads: string[], rows: string[][]}} Table the second column has the names
 * @typedef {{tag: string, match: string | null, text: string, note: string}} ListedGame
 * @typedef {{lobby: string, name: string, facts: string[], planned: number, played: number,
 *   standings: Table, crosstable: Table, claims: string[], running: ListedGame[],
 *   next: ListedGame[], latest: ListedGame[]}} LiveEvent
 */

const POLL_MS = 1500;

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
    document.title = `${event.name} - kibitz`;
    this.head.textContent = event.name;
    this.facts.textContent = event.facts.join(" · ");
    this.bar.max = event.planned;
    this.bar.value = event.played;
    fill(this.table, table(event.standings));
    fill(this.cross, table(event.crosstable, "Points of the row against the column / games played"));
    this.claimsPart.hidden = event.claims.length === 0;
    fill(this.claims, event.claims.map((claim) => h("li", null, claim)));
    this.nextPart.hidden = event.next.length === 0;
    fill(this.next, event.next.map(gameLine));
    fill(this.latest, event.latest.length ? event.latest.map(gameLine)
      : h("li", { class: "muted" }, "Nothing yet."));
    this.#drawMatches();
  }

  /** Update the boards and the match of each running game. */
  #drawMatches() {
    const event = this.#event;
    if (!event) return;
    const matches = newest(this.hall.view?.matches ?? {}).filter((brief) => brief.lobby === event.lobby);
    const byTag = new Map(matches.map((brief) => [brief.tag, brief.match]));
    fill(this.running, event.running.length
      ? event.running.map((game) => gameLine({ ...game, match: byTag.get(game.tag) ?? null }))
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

/** @param {Table} content @param {string} [caption] */
function table({ heads, rows }, caption) {
  return h("table", null,
    caption && h("caption", null, caption),
    h("thead", null, h("tr", null, heads.map((text, column) =>
      h("th", { scope: "col", class: column === 1 ? undefined : "number" }, text)))),
    h("tbody", null, rows.map((row) => h("tr", null, row.map((text, column) =>
      (column === 1 ? h("th", { scope: "row", class: "name" }, text)
        : h("td", { class: "number" }, text)))))));
}

/** @param {ListedGame} game */
function gameLine({ match, text, note }) {
  return h("li", { class: "line" },
    match ? h("a", { class: "grow", href: at(`/match/${match}`) }, text)
      : h("span", { class: "grow name" }, text),
    h("span", { class: "muted" }, note));
}
