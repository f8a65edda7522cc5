// One item of a lobby's programme: the game, its players, options, clock and number of matches.

import { clockForm } from "./clock_form.js";
import { h, fill, labelled } from "./dom.js";
import { objectForm } from "./forms.js";

/** @typedef {import("../wire/messages.js").GameLine} GameLine */
/** @typedef {import("../wire/messages.js").ProgrammeItem} ProgrammeItem */

export class ItemForm {
  /** @type {() => ProgrammeItem["options"]} */
  #options = () => ({});

  /**
   * @param {{games: GameLine[], game: string, changed: () => void,
   *   remove: (form: ItemForm) => void}} options `changed` is called for another game or number of players
   */
  constructor({ games, game, changed, remove }) {
    this.games = games;
    this.game = h("select", null, games.map((line) =>
      h("option", { value: line.name, selected: line.name === game }, line.title)));
    this.players = h("select", null);
    this.matches = h("input", { type: "number", min: 1, max: 10_000, placeholder: "default", inputmode: "numeric" });
    this.rotate = h("input", { type: "checkbox", checked: true });
    this.summary = h("p", { class: "muted" });
    this.matchesHelp = h("p", { class: "muted small-text" });
    this.fields = h("div");
    this.more = h("details", null, h("summary", null, "Options of the game"), this.fields);
    this.clock = clockForm();
    this.removal = h("button", { type: "button", class: "quiet small", onclick: () => remove(this) }, "Remove this game");
    this.element = h("div", { class: "item-form stack" },
      h("div", { class: "fields" },
        labelled("Game", this.game), labelled("Players per match", this.players), this.clock.element,
        labelled("Matches", this.matches, this.matchesHelp)),
      this.summary,
      this.more,
      h("div", { class: "row" }, labelled("Players take turns in the seats", this.rotate),
        h("span", { class: "grow" }), this.removal));
    this.game.addEventListener("change", () => {
      this.#draw();
      changed();
    });
    this.players.addEventListener("change", changed);
    this.#draw();
  }

  /** @returns {GameLine} */
  get line() {
    return this.games.find((line) => line.name === this.game.value) ?? this.games[0];
  }

  /** The number of players per match. */
  get seats() {
    return Number(this.players.value);
  }

  /** @returns {ProgrammeItem} */
  value() {
    return {
      game: this.game.value,
      options: this.#options(),
      seats: this.seats,
      games: this.matches.value ? Number(this.matches.value) : undefined,
      rotate: this.rotate.checked,
      time_control: this.clock.value(),
    };
  }

  #draw() {
    const { line } = this;
    this.summary.textContent = line.summary;
    fill(this.players, line.seats.map((seats) => h("option", { value: seats }, seats)));
    this.matchesHelp.textContent = line.balanced
      ? `A multiple of ${line.seats[0]}: everybody plays every seat once in a block of matches.`
      : "One by default.";
    const { element, value } = objectForm(line.options_schema);
    this.#options = /** @type {() => ProgrammeItem["options"]} */ (value);
    this.more.hidden = !Object.keys(line.options_schema.properties ?? {}).length;
    fill(this.fields, element);
  }
}
