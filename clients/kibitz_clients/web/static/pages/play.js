// Starts a game in two clicks, against the computer at some level or with friends by a link. With
// `?match=ID&ply=17` it begins with the position of a finished match after that ply.

import { at } from "../parts/address.js";
import { clockForm } from "../parts/clock_form.js";
import { fill, h, labelled } from "../parts/dom.js";
import { nameField, signInAsGuest } from "../parts/guest_form.js";
import { levelsOf, playComputer, playFriends } from "../parts/levels.js";
import { refusalText } from "../parts/refusals.js";

/** @typedef {import("../main.js").App} App */
/** @typedef {import("../parts/levels.js").Branch} Branch */
/** @typedef {import("../wire/messages.js").GameList} GameList */
/** @typedef {import("../wire/messages.js").GameLine} GameLine */

/** The default level. */
const FIRST_LEVEL = 1;

/**
 * @param {HTMLElement} root
 * @param {App} app
 */
export async function show(root, app) {
  const list = await app.games.list();
  const wanted = new URLSearchParams(location.search);
  const game = list.games.find(({ name }) => name === wanted.get("game")) ?? list.games[0];
  const number = (/** @type {string} */ name) => Number(wanted.get(name)) || 0;
  const match = wanted.get("match");
  const branch = match ? { match, ply: number("ply") } : undefined;
  const title = `Play ${game.title}${branch ? ` from ply ${branch.ply}` : ""}`;
  document.title = `${title} - kibitz`;
  const form = new PlayForm(app, list, game, number("seats"), number("seat"), branch);
  fill(root,
    h("h1", null, title),
    h("p", { class: "lead" }, game.summary, " ",
      h("a", { href: at(`/rules/${game.name}`) }, "Rules")),
    form.element);
}

class PlayForm {
  /**
   * @param {App} app
   * @param {GameList} list
   * @param {GameLine} game
   * @param {number} seats the initially selected number of players
   * @param {number} seat this player's initially selected seat
   * @param {Branch} [branch] the position to play from, which determines the number of players
   */
  constructor(app, list, game, seats, seat, branch) {
    this.app = app;
    this.branch = branch;
    this.list = list;
    this.game = game;
    this.name = app.connection.isViewer ? nameField() : null;
    this.players = h("select", null, game.seats.map((each) =>
      h("option", { value: each, selected: each === seats }, each)));
    this.seat = h("select", null, Array.from({ length: Math.max(...game.seats) }, (_, each) =>
      h("option", { value: each, selected: each === seat }, each + 1)));
    this.clock = clockForm("none");
    this.levels = h("fieldset", { class: "levels" });
    this.trouble = h("p", { class: "trouble", role: "alert" });
    this.start = h("button", { class: "primary" }, "Start");
    this.friends = h("button", { type: "button" }, "Play a friend");
    this.element = h("form", { class: "card stack play-form" },
      this.levels,
      h("div", { class: "fields" },
        branch ? labelled("Your seat", this.seat) : game.seats.length > 1 && labelled("Players", this.players),
        this.clock.element),
      this.name && h("div", { class: "field" }, this.name.parts),
      this.trouble,
      h("div", { class: "row" }, this.start, this.friends, h("span", { class: "grow" }),
        branch ? h("a", { href: at(`/match/${branch.match}?ply=${branch.ply}`) }, "Back to the match")
          : h("a", { href: at(`/host?game=${game.name}`) }, "More options")));
    this.players.addEventListener("change", () => this.#drawLevels(this.level));
    this.element.addEventListener("submit", (event) => {
      event.preventDefault();
      void this.#open(() => playComputer(app, { ...this.terms, level: this.level }));
    });
    this.friends.addEventListener("click", () => {
      if (this.element.reportValidity()) void this.#open(() => playFriends(app, this.terms));
    });
    this.#drawLevels(FIRST_LEVEL);
  }

  get terms() {
    const seats = Number(this.players.value);
    const seat = Number(this.seat.value) % seats;
    return { game: this.game.name, seats, control: this.clock.value(), seat, branch: this.branch };
  }

  get level() {
    return Number(new FormData(this.element).get("level"));
  }

  /** @param {number} chosen */
  #drawLevels(chosen) {
    const count = levelsOf(this.list, this.game.name, this.terms.seats).length;
    const numbers = Array.from({ length: count }, (_, i) => i + 1);
    fill(this.levels, h("legend", null, "Computer level"), h("div", { class: "row" }, numbers.map((number) =>
      h("label", { class: "level" },
        h("input", { type: "radio", name: "level", value: number, checked: number === Math.min(chosen || 1, count) }),
        number))),
    h("p", { class: "muted small-text" }, `1 is the weakest, ${count} the strongest.`));
    this.levels.hidden = this.start.hidden = !count;
  }

  /** @param {() => Promise<string>} host opens the lobby */
  async #open(host) {
    this.start.disabled = this.friends.disabled = true;
    fill(this.trouble);
    try {
      if (this.name && this.app.connection.isViewer) await signInAsGuest(this.app, this.name.input.value.trim());
      await this.app.navigate(`/lobby/${await host()}`);
    } catch (error) {
      fill(this.trouble, refusalText(error));
    } finally {
      this.start.disabled = this.friends.disabled = false;
    }
  }
}
