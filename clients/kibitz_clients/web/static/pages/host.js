// Hosting: a form with all settings of a new lobby.

import { h, fill, labelled } from "../parts/dom.js";
import { ItemForm } from "../parts/item_form.js";
import { withoutPaths } from "../parts/refusals.js";
import { SeatForm } from "../parts/seat_form.js";

/** @typedef {import("../main.js").App} App */
/** @typedef {import("../wire/messages.js").GameList} GameList */
/** @typedef {import("../wire/messages.js").Ladders} Ladders */
/** @typedef {import("../wire/messages.js").LobbySettings} LobbySettings */

/**
 * @param {HTMLElement} root
 * @param {App} app
 */
export async function show(root, app) {
  document.title = "Host a lobby - kibitz";
  const [list, ladders] = await Promise.all([
    app.games.list(),
    /** @type {Promise<Ladders>} */ (app.connection.request({ type: "ladder", count: 200 })),
  ]);
  const form = new HostForm(app, list, ratingsOf(ladders));
  fill(root,
    h("h1", null, "Host a lobby"),
    h("p", { class: "lead" }, "Choose a game and its players. The lobby starts when every seat is taken and ready."),
    form.element);
}

/** @param {Ladders} ladders */
function ratingsOf({ games }) {
  return new Map(games.flatMap(({ lines }) => lines.map((line) => [line.key, line.rating])));
}

class HostForm {
  /** @type {ItemForm[]} */
  #items = [];
  /** @type {SeatForm[]} */
  #seats = [];

  /**
   * @param {App} app
   * @param {GameList} list
   * @param {Map<string, number>} ratings
   */
  constructor(app, list, ratings) {
    this.app = app;
    this.list = list;
    this.ratings = ratings;
    this.me = app.connection.welcome?.name ?? "me";
    this.itemList = h("div", { class: "stack items" });
    this.seatList = h("ol", { class: "stack" });
    this.trouble = h("p", { class: "trouble", role: "alert" });
    this.submit = h("button", { class: "primary" }, "Open the lobby");
    this.name = h("input", { maxlength: 60, required: true, value: `${this.me}'s lobby` });
    this.access = accessFields();
    this.conduct = conductFields(list);
    const another = h("button", { type: "button", class: "small", onclick: () => this.#addItem() }, "Add a game");
    const oneMore = () => {
      this.#addSeat("open");
      this.#fit();
    };
    const seat = h("button", { type: "button", class: "small", onclick: oneMore }, "Add a seat");
    this.element = h("form", { class: "host-form" },
      h("section", { class: "card stack", "aria-labelledby": "host-what" },
        h("h2", { id: "host-what" }, "Games"), this.itemList, another),
      h("section", { class: "card stack", "aria-labelledby": "host-who" },
        h("h2", { id: "host-who" }, "Players"), this.seatList, seat),
      h("section", { class: "card stack", "aria-labelledby": "host-lobby" },
        h("h2", { id: "host-lobby" }, "The lobby"),
        h("div", { class: "fields" }, labelled("Name", this.name), this.access.main),
        h("details", null, h("summary", null, "Spectators, start and rating"), this.access.more),
        h("details", null, h("summary", null, "Disconnects and illegal moves"), this.conduct.element)),
      this.trouble,
      h("div", { class: "row" }, this.submit));
    this.element.addEventListener("submit", (event) => {
      event.preventDefault();
      void this.#open();
    });
    const wanted = new URLSearchParams(location.search).get("game");
    const first = list.games.find((game) => game.name === wanted) ?? list.games[0];
    this.#addItem(first.name);
  }

  /** @param {string} [game] */
  #addItem(game = this.list.games[0].name) {
    const form = new ItemForm({
      games: this.list.games, game,
      changed: () => this.#fit(),
      remove: (item) => {
        this.#items = this.#items.filter((other) => other !== item);
        this.#fit();
      },
    });
    this.#items.push(form);
    this.#fit();
  }

  /** @param {import("../parts/seat_form.js").SeatKind} kind */
  #addSeat(kind) {
    const { me, ratings } = this;
    const remove = (/** @type {SeatForm} */ seat) => {
      this.#seats = this.#seats.filter((other) => other !== seat);
      this.#fit();
    };
    this.#seats.push(new SeatForm({ kind, bots: this.#bots(), ratings, me, remove }));
  }

  /** Return the house bots that can play one of the games. */
  #bots() {
    return this.list.bots?.filter((bot) => this.#items.some((item) =>
      bot.name.startsWith(`${item.line.name}/`) && (!bot.seats.length || bot.seats.includes(item.seats)))) ?? [];
  }

  /** Add seats until there are enough for every match, and offer suitable bots. */
  #fit() {
    const least = Math.max(...this.#items.map((item) => item.seats));
    while (this.#seats.length < least) {
      this.#addSeat(this.#seats.length === 0 ? "me" : this.#bots().length ? "house" : "open");
    }
    fill(this.itemList, this.#items.map((item) => item.element));
    for (const item of this.#items) item.removal.hidden = this.#items.length < 2;
    fill(this.seatList, this.#seats.map((seat) => seat.element));
    this.#seats.forEach((seat, i) => {
      seat.place(i, this.#seats.length > least);
      seat.offer(this.#bots());
    });
  }

  /** @returns {LobbySettings} */
  #settings() {
    return {
      name: this.name.value.trim(),
      seats: this.#seats.map((seat) => seat.value()),
      programme: this.#items.map((item) => item.value()),
      conduct: this.conduct.value(),
      ...this.access.value(),
    };
  }

  async #open() {
    const mine = this.#seats.filter((seat) => seat.isMine).length;
    if (mine > 1) {
      fill(this.trouble, "You can take only one seat.");
      return;
    }
    this.submit.disabled = true;
    fill(this.trouble);
    const { connection } = this.app;
    try {
      const { lobby } = await connection.request({ type: "host", settings: this.#settings() });
      if (mine) await this.#sit(lobby);
      await this.app.navigate(`/lobby/${lobby}`);
    } catch (error) {
      fill(this.trouble, withoutPaths(error instanceof Error ? error.message : String(error)));
      this.trouble.scrollIntoView({ block: "center" });
    } finally {
      this.submit.disabled = false;
    }
  }

  /**
   * Take the seat that the host reserved; if that fails, the lobby still exists.
   * @param {string} lobby
   */
  async #sit(lobby) {
    try {
      await this.app.connection.request({ type: "join", lobby });
      await this.app.connection.request({ type: "ready", lobby });
    } catch (error) {
      this.app.sayError(error);
    }
  }
}

/**
 * @param {string} text
 * @param {boolean} checked
 */
function check(text, checked) {
  const input = h("input", { type: "checkbox", checked });
  return { input, element: labelled(text, input) };
}

/**
 * @param {string} text
 * @param {[string, string][]} choices
 */
function choice(text, choices) {
  const input = h("select", null, choices.map(([value, label]) => h("option", { value }, label)));
  return { input, element: labelled(text, input) };
}

/**
 * @param {string} text
 * @param {number} usual
 * @param {number} least
 * @param {number} most
 */
function number(text, usual, least, most) {
  const input = h("input", { type: "number", value: usual, min: least, max: most, required: true, inputmode: "numeric" });
  return { input, element: labelled(text, input) };
}

/** The fields for access, spectators and the start. */
function accessFields() {
  const joinable = choice("Who may join", [
    ["open", "anyone"], ["invite", "anyone with the invite link"], ["closed", "only the named players"],
  ]);
  const listed = check("Shown in the hall", true);
  const watchable = check("Spectators may enter the lobby", true);
  const mode = choice("What spectators see of a match", [
    ["public", "what all players see"], ["referee", "everything"], ["shoulder", "what one seat sees"],
    ["off", "nothing"],
  ]);
  const seat = number("Seat whose view spectators see", 1, 1, 16);
  const late = number("Delay for spectators, in moves", 0, 0, 1000);
  const comments = choice("Who sees comments during a match", [
    ["after", "nobody until the end"], ["spectators", "spectators"],
    ["everybody", "the players too"], ["none", "nobody (comments are off)"],
  ]);
  const rated = check("Rated: counts on the ladder. Needs accounts, a clock and the default options", false);
  const start = check("Start automatically when everybody is ready", true);
  const atOnce = number("Concurrent matches", 4, 1, 1000);
  const showSeat = () => { seat.element.hidden = mode.input.value !== "shoulder"; };
  mode.input.addEventListener("change", showSeat);
  showSeat();
  return {
    main: joinable.element,
    more: h("div", { class: "stack" }, listed.element, watchable.element, start.element, rated.element,
      h("div", { class: "fields" }, mode.element, seat.element, late.element, comments.element, atOnce.element)),
    /** @returns {Partial<LobbySettings>} */
    value: () => ({
      joinable: /** @type {"open"} */ (joinable.input.value),
      listed: listed.input.checked,
      watchable: watchable.input.checked,
      rated: rated.input.checked,
      auto_start: start.input.checked,
      at_once: Number(atOnce.input.value),
      spectating: {
        mode: /** @type {"public"} */ (mode.input.value),
        seat: mode.input.value === "shoulder" ? Number(seat.input.value) - 1 : undefined,
        delay_plies: Number(late.input.value),
        comments: /** @type {"everybody"} */ (comments.input.value),
      },
    }),
  };
}

/**
 * The fields for seats whose players misbehave or disconnect.
 * @param {GameList} list
 */
function conductFields(list) {
  const grace = number("Seconds to keep the seat of a disconnected player", 60, 0, 86_400);
  const standIn = choice("Substitute for a disconnected player", [
    ["", "none (the seat loses)"],
    ...(list.bots ?? []).map((bot) => /** @type {[string, string]} */ ([bot.name, bot.name])),
  ]);
  const illegal = number("Illegal moves before a seat loses", 10, 1, 1000);
  return {
    element: h("div", { class: "fields" }, grace.element, standIn.element, illegal.element),
    /** @returns {LobbySettings["conduct"]} */
    value: () => ({
      grace_ms: Number(grace.input.value) * 1000,
      on_leave: standIn.input.value ? "replace" : "forfeit",
      stand_in: standIn.input.value || undefined,
      max_illegal: Number(illegal.input.value),
    }),
  };
}
