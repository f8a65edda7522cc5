// A lobby: its members, programme and standings, and the controls of its host.

import { at, link as linkTo, serverAddress } from "../parts/address.js";
import { loadBoards, Thumbnails } from "../parts/boards.js";
import { copyable } from "../parts/copyable.js";
import { h, fill } from "../parts/dom.js";
import { guestForm } from "../parts/guest_form.js";
import { KeyedList } from "../parts/keyed.js";
import { matchCard, matchLine } from "../parts/match_cards.js";
import { counted, kindMark } from "../parts/names.js";
import { controlText, isLimited } from "../wire/clock.js";
import { Refusal } from "../wire/connection.js";
import { playedText, rights, waitsFor } from "../wire/lobby_seat.js";
import { bySeat, table } from "../wire/lobbies.js";
import { shownName } from "../wire/names.js";

/** @typedef {import("../main.js").App} App */
/** @typedef {import("../wire/messages.js").LobbyView} LobbyView */
/** @typedef {import("../wire/messages.js").LobbyClosed} LobbyClosed */
/** @typedef {import("../wire/messages.js").MatchBrief} MatchBrief */
/** @typedef {import("../wire/messages.js").MatchList} MatchList */
/** @typedef {import("../wire/lobby_seat.js").SeatSpec} SeatSpec */
/** @typedef {import("../wire/lobby_seat.js").Rights} Rights */
/** @typedef {import("../wire/connection.js").Asked} Asked */

const MOST_BOARDS = 12;
const STATES = { gathering: "waiting for players", running: "running", finished: "finished", closed: "closed" };
/** @type {Record<string, string>} */
const ENDS = {
  closed: "This lobby is closed, or you left it in another window.",
  kicked: "The host removed you from this lobby.",
  expired: "You were disconnected for too long, or nobody was left here.",
  failed: "The server could not continue this lobby.",
};

/**
 * @param {HTMLElement} root
 * @param {App} app
 * @param {Record<string, string>} params
 */
export async function show(root, app, { code }) {
  document.title = `Lobby ${code} - kibitz`;
  if (app.connection.isViewer) {
    showDoor(root, app, code);
    return undefined;
  }
  await Promise.all([app.games.list(), loadBoards()]);
  const page = new LobbyPage(root, app, code);
  await page.enter();
  return () => page.leave();
}

/**
 * Show a lobby to a viewer: a form to join as a guest, and the boards.
 * @param {HTMLElement} root
 * @param {App} app
 * @param {string} code
 */
function showDoor(root, app, code) {
  const { form } = guestForm(app, {
    title: "Join as a guest", submit: "Join", then: async () => {
      try {
        await app.connection.request({ type: "join", lobby: code, invite: app.invite || undefined });
        await app.connection.request({ type: "ready", lobby: code });
      } catch (error) {
        app.sayError(error); // the lobby may be full; the page then watches it
      }
      await app.router.show();
    },
  });
  fill(root,
    h("h1", null, "You are invited to a lobby"),
    h("p", { class: "lead" }, `Choose a name and take a seat in lobby ${code}.`),
    h("div", { class: "pair" }, form),
    h("p", null, h("a", { href: at(`/wall?lobby=${code}`), target: "_self" }, "Watch the boards"), " · ",
      h("a", { href: at("/") }, "To the hall")));
}

class LobbyPage {
  /** @type {MatchBrief[]} */
  #played = [];
  #invite;
  #asked = "";
  #closed = false;

  /**
   * @param {HTMLElement} root
   * @param {App} app
   * @param {string} code
   */
  constructor(root, app, code) {
    this.root = root;
    this.app = app;
    this.code = code;
    this.#invite = app.invite;
    this.thumbnails = new Thumbnails(app);
    this.liveCount = h("span", { class: "count" });
    this.liveList = new KeyedList(h("ul", { class: "tiles boards" }), (match) => match.match,
      (match) => matchCard(match, app, this.thumbnails));
    this.playedList = new KeyedList(h("ul", { class: "lines" }), (match) => match.match,
      (match) => matchLine(match, app));
    this.parts = {
      head: h("div"), actions: h("div", { class: "row actions" }), seats: h("section"), invite: h("section"),
      programme: h("section"), live: h("section"), standings: h("section"), played: h("section"),
    };
  }

  /** Follow the lobby as a member, or else as a spectator. */
  async enter() {
    const { app } = this;
    app.lobbies.addEventListener("change", this.#changed);
    app.lobbies.addEventListener("closed", this.#ended);
    app.connection.addEventListener("welcome", this.#again);
    try {
      await this.#ask();
    } catch (error) {
      this.#explain(error);
    }
  }

  leave() {
    const { app, code } = this;
    app.lobbies.removeEventListener("change", this.#changed);
    app.lobbies.removeEventListener("closed", this.#ended);
    app.connection.removeEventListener("welcome", this.#again);
    this.thumbnails.close();
    if (this.#asked === "spectator" && !this.#rights()?.member && !this.#closed) {
      app.connection.request({ type: "leave", lobby: code }).catch(() => {});
      app.lobbies.forget(code);
    }
  }

  async #ask() {
    const { welcome } = this.app.connection;
    const role = welcome?.lobbies.includes(this.code) || this.#rights()?.member ? "player" : "spectator";
    this.#asked = role;
    const invite = this.#invite || undefined;
    await this.app.connection.request({ type: "join", lobby: this.code, role, invite });
    await this.#listPlayed();
  }

  #again = () => {
    this.#ask().catch((error) => this.#explain(error));
  };

  /** @param {Event} event */
  #changed = (event) => {
    if (/** @type {CustomEvent<string>} */ (event).detail !== this.code) return;
    const view = this.#view;
    const done = this.#played.length;
    if (view && view.done - (view.void ?? 0) > done) void this.#listPlayed().catch(() => {});
    this.#draw();
  };

  /** @param {Event} event */
  #ended = (event) => {
    const news = /** @type {CustomEvent<LobbyClosed>} */ (event).detail;
    if (news.lobby !== this.code) return;
    this.#closed = true;
    this.#explain(new Refusal("closed", ENDS[news.reason] ?? ENDS.closed));
  };

  get #view() {
    return this.app.lobbies.views.get(this.code) ?? null;
  }

  /** @returns {Rights | null} */
  #rights() {
    const { welcome } = this.app.connection;
    return this.#view && welcome ? rights(this.#view, welcome.player, welcome.name) : null;
  }

  async #listPlayed() {
    /** @type {MatchList} */
    const { matches } = await this.app.connection.request({ type: "list_matches", lobby: this.code });
    this.#played = matches.filter((match) => match.result);
    this.#draw();
  }

  /** @param {unknown} error */
  #explain(error) {
    const refusal = error instanceof Refusal ? error : new Refusal("", String(error));
    const watch = refusal.code === "not_watchable";
    const join = async () => {
      try {
        await this.app.connection.request({ type: "join", lobby: this.code, invite: this.#invite || undefined });
        this.#asked = "player";
      } catch (again) {
        this.app.sayError(again);
      }
    };
    fill(this.root,
      h("h1", null, `Lobby ${this.code}`),
      h("p", { class: "lead" }, refusal.message),
      refusal.hint && h("p", { class: "muted" }, refusal.hint),
      h("div", { class: "row" },
        watch && h("button", { class: "primary", onclick: join }, "Join"),
        h("a", { class: "button", href: at("/") }, "To the hall")));
  }

  #draw() {
    const view = this.#view;
    const may = this.#rights();
    if (!view || !may || this.#closed) return;
    if (!this.root.contains(this.parts.head)) {
      const { head, actions, seats, invite, programme, live, standings, played } = this.parts;
      fill(this.root, head, actions,
        h("div", { class: "pair" }, seats, h("div", { class: "stack" }, invite, programme)),
        live, h("div", { class: "pair" }, standings, played));
      fill(live, h("h2", null, "Running ", this.liveCount), this.liveList.list);
      fill(played, h("h2", null, "Played"), this.playedList.list);
    }
    document.title = `${view.settings.name} - kibitz`;
    this.#drawHead(view);
    this.#drawActions(view, may);
    this.#drawSeats(view, may);
    this.#drawInvite(view, may);
    this.#drawProgramme(view);
    this.#drawMatches(view);
  }

  /** @param {LobbyView} view */
  #drawHead(view) {
    const { settings } = view;
    const host = view.members[view.host]?.name;
    fill(this.parts.head,
      h("h1", null, settings.name),
      h("p", { class: "tags" },
        h("span", { class: `tag state-${view.state}` }, STATES[view.state]),
        view.round > 1 && h("span", { class: "tag" }, `round ${view.round}`),
        settings.joinable === "invite" && h("span", { class: "tag" }, "invite only"),
        settings.joinable === "closed" && h("span", { class: "tag" }, "named players only"),
        settings.rated && h("span", { class: "tag" }, "rated"),
        host && h("span", { class: "muted" }, `hosted by ${host}`),
        h("span", { class: "muted" }, counted(view.spectators ?? 0, "spectator"))),
      view.stopped && h("p", { class: "trouble" }, `The rest of the programme will not be played: ${view.stopped}.`));
  }

  /**
   * @param {LobbyView} view
   * @param {Rights} may
   */
  #drawActions(view, may) {
    const { member } = may;
    const mine = Object.values(view.live).find((match) => match.seats.some((seat) => seat.player === member?.player));
    const button = (/** @type {string} */ text, /** @type {Asked} */ message, look = "") =>
      h("button", { type: "button", class: look, onclick: () => void this.#do(message) }, text);
    const sure = (/** @type {string} */ text, /** @type {Asked} */ message, /** @type {string} */ question) =>
      h("button", { type: "button", class: "danger", onclick: () => { if (confirm(question)) void this.#do(message); } }, text);
    const leaving = view.state === "running"
      ? "Matches are running. If you leave, you lose them. Leave?" : "Leave the lobby?";
    const focused = document.activeElement?.textContent;
    fill(this.parts.actions,
      mine && h("a", { class: "button primary", href: at(`/match/${mine.match}`) }, "Go to your board"),
      may.join && button("Join", { type: "join", invite: this.#invite || undefined }, "primary"),
      may.ready && (member?.ready
        ? button("Not ready", { type: "ready", ready: false })
        : button("Ready", { type: "ready" }, "primary")),
      may.start && !waitsFor(view) && button("Start now", { type: "start" }, "primary"),
      may.rematch && button("Play again with rotated seats", { type: "rematch" }, "primary"),
      member && sure("Leave", { type: "leave" }, leaving),
      may.close && sure("Close the lobby", { type: "close" }, "Close the lobby? Running matches will finish first."),
      h("span", { class: "muted" }, waitsFor(view)));
    const again = [...this.parts.actions.querySelectorAll("button")].find((element) => element.textContent === focused);
    again?.focus();
  }

  /** @param {Asked} message without the lobby */
  async #do(message) {
    const asked = { ...message, lobby: this.code };
    try {
      await this.app.connection.request(asked);
      if (asked.type === "join") this.#asked = "player";
      if (asked.type === "leave") await this.app.navigate("/");
    } catch (error) {
      this.app.sayError(error);
    }
  }

  /**
   * @param {LobbyView} view
   * @param {Rights} may
   */
  #drawSeats(view, may) {
    const members = new Map(bySeat(view).map((member) => [member.seat, member]));
    const trouble = new Map((view.house_trouble ?? []).map((line) => [line.seat, line]));
    fill(this.parts.seats,
      h("h2", null, "Seats"),
      h("ol", { class: "lines" }, view.settings.seats.map((spec, seat) => {
        const member = members.get(seat);
        const failed = trouble.get(seat);
        return h("li", { class: "line" },
          h("span", { class: "seat-number muted" }, seat + 1),
          member
            ? h("span", { class: "grow" }, kindMark(member.kind), h("strong", { class: "name" }, shownName(member)),
              member.player === view.host && h("span", { class: "muted" }, " (host)"))
            : h("span", { class: "grow muted" }, emptySeat(spec)),
          member && h("span", { class: `tag ${member.ready && member.connected ? "is-ready" : ""}` },
            !member.connected ? "away" : member.ready ? "✓ ready" : "not ready"),
          failed && h("span", { class: "trouble small-text" }, failed.reason),
          may.host && member && member.player !== view.host &&
            h("button", {
              type: "button", class: "quiet small", "aria-label": `Remove ${shownName(member)}`,
              onclick: () => void this.#do({ type: "kick", player: member.player }),
            }, "Remove"));
      })));
  }

  /**
   * @param {LobbyView} view
   * @param {Rights} may
   */
  #drawInvite(view, may) {
    const { invite } = this.parts;
    const secret = view.settings.joinable === "invite" ? view.invite : undefined;
    const link = linkTo(`/lobby/${this.code}${secret ? `#invite=${encodeURIComponent(secret)}` : ""}`);
    if (invite.dataset.link === link) return;
    invite.dataset.link = link;
    const server = serverAddress();
    const option = secret ? ` --invite ${secret}` : "";
    fill(invite,
      h("h2", null, may.host || may.member ? "Invite" : "Link"),
      h("div", { class: "card stack" },
        copyable("Link to this lobby", link, this.app),
        h("details", null, h("summary", null, "From a terminal"),
          h("div", { class: "stack" },
            copyable("Play", `kibitz join ${this.code} --server ${server}${option}`, this.app),
            copyable("Let a bot play", `kibitz connect mybot.py --server ${server} --lobby ${this.code}${option}`, this.app),
            copyable("Watch", `kibitz watch ${this.code} --server ${server}`, this.app)))));
  }

  /** @param {LobbyView} view */
  #drawProgramme(view) {
    const { programme, arranged } = view.settings;
    fill(this.parts.programme,
      h("h2", null, "Programme"),
      h("ul", { class: "lines" }, programme.map((item) => h("li", { class: "line" },
        h("span", { class: "grow" },
          h("strong", null, this.app.games.title(item.game)), " ",
          h("span", { class: "muted" }, optionsText(item.options ?? {}))),
        h("span", { class: "muted" }, counted(item.seats ?? 2, "player")),
        h("span", { class: "muted" }, clockText(item.time_control ?? {})),
        item.games && h("span", { class: "muted" }, counted(item.games, "match", "matches"))))),
      arranged && h("p", { class: "muted" }, "The host arranges the matches one by one."),
      view.planned > 1 && h("p", { class: "progress-line" },
        h("progress", { max: view.planned, value: view.done, "aria-label": "Matches played" }), " ",
        h("span", { class: "muted" }, playedText(view))));
  }

  /** @param {LobbyView} view */
  #drawMatches(view) {
    const { live, standings, played } = this.parts;
    const running = Object.values(view.live).sort((a, b) => (a.number ?? 1) - (b.number ?? 1));
    const shown = running.slice(0, MOST_BOARDS);
    const lines = table(view);
    live.hidden = !running.length;
    this.liveCount.textContent = String(running.length);
    this.liveList.show(shown);
    this.thumbnails.keep(new Set(shown.map((match) => match.match)));
    standings.hidden = !lines.some((line) => line.played);
    fill(standings, h("h2", null, "Standings"), h("div", { class: "card scroll" }, h("table", null,
      h("thead", null, h("tr", null,
        ["#", "Player", "Points", "Won", "Drawn", "Lost"].map((text, i) =>
          h("th", { scope: "col", class: i > 1 ? "number" : "" }, text)))),
      h("tbody", null, lines.map((line, i) => h("tr", null,
        h("td", null, i + 1), h("td", { class: "name" }, shownName({ name: line.name, kind: view.members[line.player]?.kind ?? "" })),
        [line.points, line.wins, line.draws, line.losses].map((value) => h("td", { class: "number" }, round(value)))))))));
    played.hidden = !this.#played.length;
    this.playedList.show(this.#played);
  }
}

/** @param {import("../wire/messages.js").TimeControl} control */
function clockText(control) {
  return isLimited(control) ? `clock ${controlText(control)}` : "no clock";
}

/** @param {SeatSpec} spec */
function emptySeat(spec) {
  if (spec.kind === "reserved") return `reserved for ${spec.name}`;
  if (spec.kind === "house") return `${spec.personality} is starting…`;
  return "open to anyone";
}

/** @param {Record<string, unknown>} options */
function optionsText(options) {
  return Object.entries(options).map(([name, value]) => `${name} ${[value].flat().join(" ")}`).join(", ");
}

/** @param {number} value */
function round(value) {
  return Math.round(value * 100) / 100;
}
