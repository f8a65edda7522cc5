// One seat of a new lobby: for the host, anyone, a named player, or a house bot.

import { h, fill } from "./dom.js";
import { objectForm } from "./forms.js";

/** @typedef {import("../wire/messages.js").HouseBotLine} HouseBotLine */
/** @typedef {import("../wire/messages.js").BotParameter} BotParameter */
/** @typedef {import("../wire/messages.js").LobbySettings["seats"][number]} SeatSpec */
/** @typedef {"me"|"open"|"reserved"|"house"} SeatKind */

let forms = 0;

export class SeatForm {
  #tuned = objectForm({});

  /**
   * @param {{kind: SeatKind, bots: HouseBotLine[], ratings: Map<string, number>, me: string,
   *   remove: (form: SeatForm) => void}} options `bots` can take this seat
   */
  constructor({ kind, bots, ratings, me, remove }) {
    this.me = me;
    this.bots = bots;
    this.ratings = ratings;
    const id = `seat-${++forms}`;
    this.title = h("h3", null);
    this.kind = h("select", { id },
      [["me", `me (${me})`], ["open", "anyone"], ["house", "a house bot"], ["reserved", "one player, by name"]]
        .map(([value, text]) => h("option", { value, selected: value === kind }, text)));
    this.label = h("label", { for: id, class: "visually-hidden" });
    this.name = h("input", { maxlength: 32, placeholder: "name", "aria-label": "Name of the player" });
    this.bot = h("select", { "aria-label": "House bot" });
    this.summary = h("p", { class: "muted small-text" });
    this.tuning = h("div", null);
    this.more = h("details", null, h("summary", null, "Parameters"), this.tuning);
    this.choice = h("div", { class: "stack grow" });
    const gone = h("button", { type: "button", class: "quiet small", onclick: () => remove(this) }, "Remove");
    this.removal = gone;
    this.element = h("li", { class: "seat-form" },
      h("div", { class: "row" }, this.title, this.label, this.kind, gone), this.choice);
    this.kind.addEventListener("change", () => this.#draw());
    this.bot.addEventListener("change", () => this.#drawBot());
    this.offer(bots);
  }

  /**
   * Set the house bots to choose from; the selected one is kept if it is among them.
   * @param {HouseBotLine[]} bots
   */
  offer(bots) {
    const chosen = this.bot.value;
    this.bots = bots;
    const groups = groupBy(bots);
    fill(this.bot, [...groups].map(([group, members]) =>
      h("optgroup", { label: group }, members.map((bot) => {
        const rating = this.ratings.get(bot.name);
        const text = bot.name.slice(bot.name.indexOf("/") + 1);
        return h("option", { value: bot.name }, rating ? `${text} (${Math.round(rating)})` : text);
      }))));
    const still = bots.some((bot) => bot.name === chosen);
    this.bot.value = still ? chosen : (bots[Math.min(1, bots.length - 1)]?.name ?? "");
    const house = [...this.kind.options].find((option) => option.value === "house");
    if (house) house.disabled = !bots.length;
    if (!bots.length && this.kind.value === "house") this.kind.value = "open";
    this.#draw();
  }

  /**
   * Set the number of this seat, counted from 0, and whether it can be removed.
   * @param {number} seat
   * @param {boolean} removable
   */
  place(seat, removable) {
    this.title.textContent = `Seat ${seat + 1}`;
    this.label.textContent = `Player in seat ${seat + 1}`;
    this.removal.hidden = !removable;
    this.removal.setAttribute("aria-label", `Remove seat ${seat + 1}`);
  }

  /** Whether the host takes this seat. */
  get isMine() {
    return this.kind.value === "me";
  }

  /** @returns {SeatSpec} */
  value() {
    switch (this.kind.value) {
      case "me":
        return { kind: "reserved", name: this.me };
      case "reserved":
        return { kind: "reserved", name: this.name.value.trim() };
      case "house": {
        const changed = Object.entries(this.#tuned.value());
        const parameters = changed.map(([name, value]) => `${name}=${value}`).join(",");
        const personality = this.bot.value + (parameters && `:${parameters}`);
        return { kind: "house", personality };
      }
      default:
        return { kind: "open" };
    }
  }

  #draw() {
    const kind = this.kind.value;
    this.name.required = kind === "reserved";
    if (kind === "reserved") fill(this.choice, this.name);
    else if (kind === "house") fill(this.choice, this.bot, this.summary, this.more);
    else fill(this.choice);
    this.choice.hidden = !this.choice.childElementCount;
    this.#drawBot();
  }

  #drawBot() {
    const bot = this.bots.find((other) => other.name === this.bot.value);
    this.summary.textContent = bot?.summary ?? "";
    const parameters = bot?.parameters ?? [];
    this.more.hidden = !parameters.length;
    this.#tuned = objectForm({
      properties: Object.fromEntries(parameters.map((parameter) => [parameter.name, schemaOf(parameter)])),
    });
    fill(this.tuning, this.#tuned.element);
  }
}

/** @param {BotParameter} parameter @returns {import("./forms.js").Schema} */
function schemaOf({ type, least, most, words, default: usual, summary: description }) {
  if (type === "word") return { enum: words, default: usual, description };
  const kind = type === "int" ? "integer" : "number";
  return { type: kind, minimum: least, maximum: most, default: usual, description };
}

/** @param {HouseBotLine} bot */
function groupOf(bot) {
  const [game, name] = bot.name.split("/");
  return `${game}: ${name.split("-")[0]}`;
}

/** @param {HouseBotLine[]} bots */
function groupBy(bots) {
  /** @type {Map<string, HouseBotLine[]>} */
  const groups = new Map();
  for (const bot of bots) groups.set(groupOf(bot), [...(groups.get(groupOf(bot)) ?? []), bot]);
  return groups;
}
