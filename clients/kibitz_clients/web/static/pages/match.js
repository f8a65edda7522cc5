// Plays, watches or replays one match. `?ply=17` opens it after that ply.

import { at, link as linkTo } from "../parts/address.js";
import { AnalysisPanel, computed } from "../parts/analysis.js";
import { define } from "../board/board.js";
import { copyable } from "../parts/copyable.js";
import { ask, read } from "../parts/dialogs.js";
import { fill, h } from "../parts/dom.js";
import { finishedSnapshot } from "../parts/finished.js";
import { Follower } from "../parts/follower.js";
import { ordinal, resultText } from "../parts/results.js";
import { showRules } from "../parts/rules.js";
import { download, pngOf, svgText } from "../parts/share.js";
import { Viewer } from "../parts/viewer.js";
import { rights } from "../wire/lobby_seat.js";

/** @typedef {import("../main.js").App} App */
/** @typedef {import("../parts/levels.js").Branch} Branch */
/** @typedef {import("../wire/connection.js").Refusal} Refusal */
/** @typedef {import("../wire/match.js").MatchModel} MatchModel */
/** @typedef {import("../wire/messages.js").YourTurn} YourTurn */

const TICK_MS = 100;
const TAP_MS = 400;

/**
 * @param {HTMLElement} root
 * @param {App} app
 * @param {Record<string, string>} params
 */
export async function show(root, app, params) {
  define();
  const page = new MatchPage(root, app, params.id);
  return () => page.close();
}

class MatchPage {
  /** The turn whose picks the board offers. @type {YourTurn | null} */
  #shown = null;
  /** The turn for which the player was notified. @type {YourTurn | null} */
  #called = null;
  /** Whether a move was sent and is not yet answered. */
  #sent = false;
  /** The turn with a hint, and its text. @type {{turn: YourTurn | null, text: string}} */
  #hinted = { turn: null, text: "" };
  #wanted = plyOfAddress();

  /** @param {HTMLElement} root @param {App} app @param {string} id */
  constructor(root, app, id) {
    this.root = root;
    this.app = app;
    this.model = app.matches.open(id);
    this.viewer = new Viewer();
    this.viewer.liveClocks = true;
    this.follower = new Follower(app, this.model);
    if (!app.connection.isViewer) this.viewer.talk.offer((text) => this.#request({ type: "comment", match: id, text }));
    this.title = h("div", { class: "match-title" });
    this.turnLine = h("p", { class: "turn-line", "aria-live": "polite" });
    this.actions = h("div", { class: "match-actions" });
    this.result = h("div", null);
    this.analysis = new AnalysisPanel(id, {
      change: () => this.#analyzed(),
      go: (ply) => {
        this.viewer.playback.goTo(this.viewer.course.indexOfPly(ply));
        this.viewer.board.scrollIntoView({ block: "nearest" });
      },
    });
    fill(this.viewer.head, this.result);
    fill(this.viewer.below, this.turnLine);
    fill(this.viewer.foot, this.actions);
    fill(root, this.title, this.viewer.root);
    this.#listen();
    this.ticking = setInterval(() => this.#tick(), TICK_MS);
    if (this.follower.course) this.#course();
    void app.games.list().then(() => this.#draw(), () => {});
    this.#draw();
  }

  close() {
    clearInterval(this.ticking);
    this.viewer.playback.pause();
    this.analysis.close();
    this.follower.close();
    this.model.removeEventListener("change", this.change);
    this.model.removeEventListener("refused", this.refused);
    this.app.lobbies.removeEventListener("change", this.change);
    this.app.matches.close(this.model.id);
  }

  /** Handle a match that cannot be watched: if it is over, show its record. */
  refused = (/** @type {Event} */ event) => {
    const refusal = /** @type {CustomEvent<Refusal>} */ (event).detail;
    void this.#openFinished().catch(() => this.#explain(refusal));
  };

  change = () => this.#draw();

  #listen() {
    this.model.addEventListener("change", this.change);
    this.app.lobbies.addEventListener("change", this.change); // a change may allow a rematch
    this.model.addEventListener("refused", this.refused);
    this.follower.addEventListener("course", () => this.#course());
    this.follower.addEventListener("step", () => this.viewer.extended());
    this.follower.addEventListener("trouble", (event) =>
      this.app.sayError(/** @type {CustomEvent} */ (event).detail));
    this.viewer.playback.addEventListener("state", () => this.#place());
    this.viewer.board.addEventListener("pick", (event) =>
      this.#play(/** @type {CustomEvent} */ (event).detail.action));
  }

  /** A finished match cannot be watched; its fixed data comes from the record. */
  async #openFinished() {
    const snapshot = await finishedSnapshot(this.model.id);
    const you = snapshot.seats.findIndex(({ player }) => player === this.app.connection.welcome?.player);
    this.model.take({ ...snapshot, you: you < 0 ? undefined : you });
  }

  /** @param {Refusal} refusal */
  #explain({ message, hint }) {
    fill(this.root, h("h1", null, "This match cannot be shown"), h("p", null, hint ? `${message}: ${hint}` : message),
      h("p", null, h("a", { href: at("/") }, "To the hall")));
  }

  #course() {
    const { course, whole } = this.follower;
    if (!course) return;
    if (this.analysis.analysis) course.judge(this.analysis.analysis);
    const { playback } = this.viewer;
    const ply = playback.following ? null : this.viewer.course.plyAt(playback.index);
    const wanted = whole && this.#wanted !== null ? this.#wanted : ply;
    if (whole) this.#wanted = null;
    this.viewer.load(course, wanted === null ? course.length : course.indexOfPly(wanted));
    this.#picks();
  }

  // ----------------------------------------------------------------------------- showing

  #draw() {
    const { model, viewer } = this;
    if (!model.snapshot) {
      fill(this.title, h("h1", null, "Match"), h("p", { class: "muted" }, "loading…"));
      return;
    }
    const title = this.app.games.title(model.game);
    const { result } = model;
    const seatNotes = result?.seats.map((seat) =>
      [ordinal(seat.rank), seat.points !== null && seat.points !== undefined && `${seat.points} points`,
        seat.cause && seat.cause !== "rules" && seat.cause].filter(Boolean).join(", "));
    viewer.describe({
      players: model.players, control: model.snapshot.time_control, seatNotes,
      you: model.you, away: model.away,
    });
    viewer.board.toggleAttribute("playable", model.you !== null && !result);
    viewer.board.setAttribute("label", `${title} board`);
    viewer.liveClocks = !result;
    this.#drawTitle(title);
    fill(this.result, result && h("p", { class: "result", role: "status" },
      resultText(result, model.seats, this.app.games.endings(model.game))));
    if (result && !viewer.head.contains(this.actions)) this.#raiseActions();
    if (result || model.snapshot.spectating.comments === "none") viewer.talk.end();
    this.#drawActions(title);
    this.#picks();
    this.#say(title);
  }

  /** Move the buttons above the board, and ignore a tap that was meant for the board at first. */
  #raiseActions() {
    this.viewer.head.append(this.actions, this.analysis.root);
    this.actions.inert = true;
    setTimeout(() => { this.actions.inert = false; }, TAP_MS);
  }

  /** @param {string} title */
  #drawTitle(title) {
    const { snapshot, you, result } = this.model;
    const { mode } = snapshot?.spectating ?? {};
    const seen = result || you !== null ? "" : { shoulder: "as one player sees it", referee: "everything is shown" }[String(mode)];
    const { branch } = snapshot ?? {};
    fill(this.title, h("h1", null, title),
      h("p", { class: "muted" }, this.model.seats.join(" – "), seen && ` · ${seen}`,
        branch && [" · ", h("a", { href: at(`/match/${branch.match}?ply=${branch.ply}`) }, `from ply ${branch.ply} of another match`)]),
      h("button", { type: "button", class: "small", onclick: () => this.#rules(title) }, "Rules"));
  }

  /** @param {string} title */
  #drawActions(title) {
    const { model } = this;
    const { lobby } = model.snapshot ?? {};
    const playing = model.you !== null && !model.result;
    const analyze = model.result && !this.analysis.busy && !this.analysis.analysis;
    const branches = this.#mayBranch();
    const rated = this.app.lobbies.views.get(lobby ?? "")?.settings.rated;
    const hints = playing && model.turn && !rated && !this.app.games.hidden(model.game);
    const key = JSON.stringify([playing, Boolean(hints), Boolean(model.result), lobby, this.#mayPlayAgain(), branches, analyze]);
    if (this.actions.dataset.key === key) return;
    this.actions.dataset.key = key;
    if (playing) this.viewer.foot.append(this.app.attention.root);
    else this.app.attention.root.remove();
    fill(this.actions,
      hints && button("Hint", () => this.#hint()),
      playing && button("Resign", () => this.#give("resign", `Resign this match of ${title}?`, "Resign"), "danger"),
      playing && button("Leave", () => this.#give("leave_match",
        "Leave this match for good? You will lose your seat.", "Leave"), "danger"),
      this.#mayPlayAgain() && button("Play again", () => this.#playAgain(String(lobby)), "primary"),
      branches && button("Play from here", () => this.app.navigate(this.#fromHere())),
      analyze && button("Analyze", () => this.analysis.open(model.seats)),
      model.result && model.you !== null && h("a", { class: "button", href: this.#otherLevel() }, "Another level"),
      lobby && h("a", { class: "button", href: at(`/lobby/${lobby}`) }, "Lobby"),
      model.result && h("a", {
        class: "button", href: at(`/records/${encodeURIComponent(model.id)}.jsonl`), download: true,
      }, "Download the record"),
      button("Share", () => this.#share()));
  }

  /**
   * Request a rematch with rotated seats; the page opens the next match automatically.
   * @param {string} lobby
   */
  async #playAgain(lobby) {
    this.app.awaited = lobby;
    if (this.#rights()?.rematch) await this.#request({ type: "rematch", lobby });
    await this.#request({ type: "ready", lobby }).catch(() => {}); // in a lobby of a seek, the request alone suffices
  }

  /** Handle an analysis that has started, is complete or was refused. */
  #analyzed() {
    this.#draw();
    if (this.analysis.analysis) this.#course();
  }

  /** Return the address of the page to choose another level, for the next seat. */
  #otherLevel() {
    const { you, seats, snapshot } = this.model;
    return at(this.#playPage(((you ?? 0) + 1) % seats.length, snapshot?.branch));
  }

  /** Return the path of the page to continue from the shown position, in the seat to act. */
  #fromHere() {
    const { course, playback } = this.viewer;
    const seat = course.toActAt(playback.index);
    const ply = course.plyAt(playback.index);
    return this.#playPage(seat < 0 ? (this.model.you ?? 0) : seat, { match: this.model.id, ply });
  }

  /** @param {number} seat @param {Branch | null} [branch] */
  #playPage(seat, branch) {
    const { game, seats } = this.model;
    const path = `/play?game=${game}&seats=${seats.length}&seat=${seat}`;
    return branch ? `${path}&match=${branch.match}&ply=${branch.ply}` : path;
  }

  /** Return whether the match is over and the shown position is not its end. */
  #mayBranch() {
    const { model: { result }, viewer: { course, playback }, follower } = this;
    if (!result || !follower.whole) return false;
    return result.cause !== "rules" || course.plyAt(playback.index) < result.plies;
  }

  /** Return whether this player may request a rematch or agree to one. */
  #mayPlayAgain() {
    const may = this.#rights();
    return Boolean(this.model.result && may && (may.rematch || (may.ready && !may.member?.ready)));
  }

  #rights() {
    const lobby = this.app.lobbies.views.get(this.model.snapshot?.lobby ?? "");
    const { welcome } = this.app.connection;
    return lobby && welcome ? rights(lobby, welcome.player, welcome.name) : null;
  }

  /** Show whose turn it is. @param {string} title */
  #say(title) {
    const { model, viewer } = this;
    const yours = model.turn !== null && !model.result;
    const name = model.seats[model.toAct];
    const text = model.result ? ""
      : yours ? (viewer.playback.following ? `Your turn${this.#hinted.turn === model.turn ? `. ${this.#hinted.text}` : ""}` : "Your turn: go to the newest position")
        : this.#sent ? "Sent…" : name ? `${name} to move` : "";
    if (this.turnLine.textContent !== text) this.turnLine.textContent = text;
    if (yours && model.turn !== this.#called) this.app.attention.call(title);
    this.#called = model.turn;
    this.turnLine.toggleAttribute("data-yours", yours);
    document.title = `${yours ? "● Your turn: " : ""}${title} - kibitz`;
  }

  #tick() {
    const { model, viewer } = this;
    if (model.result || !viewer.playback.following || document.hidden) return;
    viewer.seats.show(model.players.map((_, seat) => model.leftMs(seat)));
  }

  /**
   * Handle a change of position: put its ply into the address, and allow picks only at the newest
   * one.
   */
  #place() {
    const { playback, course } = this.viewer;
    if (this.follower.whole && !playback.playing) {
      const query = playback.following ? "" : `?ply=${course.plyAt(playback.index)}`;
      history.replaceState(history.state, "", location.pathname + query);
    }
    this.#picks();
    if (!this.model.snapshot) return;
    const title = this.app.games.title(this.model.game);
    this.#drawActions(title);
    this.#say(title);
  }

  // ----------------------------------------------------------------------------- playing

  #picks() {
    const { turn, result } = this.model;
    const wanted = turn && !result && this.viewer.playback.following && !this.#sent ? turn : null;
    if (wanted === this.#shown && (wanted === null) === (this.viewer.board.picks === null)) return;
    this.#shown = wanted;
    this.viewer.board.picks = wanted?.picks ?? null;
  }

  /** @param {Record<string, unknown>} action */
  async #play(action) {
    const { turn } = this.model;
    if (!turn) return;
    this.#sent = true;
    try {
      await this.app.connection.request(/** @type {any} */ (
        { type: "move", match: this.model.id, ply: turn.ply, action }));
      if (this.model.turn === turn) this.model.turn = null;
    } catch (error) {
      this.app.sayError(error);
    } finally {
      this.#sent = false;
      this.#draw();
    }
  }

  /** Request a bot's move for this turn, and draw it on the board. */
  async #hint() {
    const { model } = this;
    const { turn } = model;
    const show = (/** @type {string} */ text) => {
      this.#hinted = { turn, text };
      this.#draw();
    };
    try {
      show("Looking for a good move…");
      const { action, text } = await computed(model.id, "hint");
      const pick = turn?.picks?.find((each) => sorted(each.action) === sorted(action));
      if (model.turn !== turn || !pick) return;
      show(`Hint: ${text}`);
      this.viewer.board.lines = [{ cells: pick.cells, seat: turn?.seat ?? 0 }];
    } catch (error) {
      if (model.turn === turn) show(String(error instanceof Error ? error.message : error));
    }
  }

  /** @param {"resign" | "leave_match"} type @param {string} question @param {string} yes */
  async #give(type, question, yes) {
    if (await ask(question, yes)) await this.#request({ type, match: this.model.id });
  }

  /** @param {Record<string, unknown> & {type: string}} message */
  async #request(message) {
    try {
      return await this.app.connection.request(/** @type {any} */ (message));
    } catch (error) {
      this.app.sayError(error);
      throw error;
    }
  }

  /** @param {string} title */
  #rules(title) {
    showRules(this.model.game, title).catch((error) => this.app.sayError(error));
  }

  /** Offer a link to this position, and pictures of it. */
  #share() {
    const { playback, course, board } = this.viewer;
    const ply = course.plyAt(playback.index);
    const link = linkTo(`/match/${this.model.id}?ply=${ply}`);
    const drawing = board.querySelector("svg");
    const name = `${this.model.id}-${ply}`;
    const text = () => svgText(/** @type {SVGSVGElement} */ (drawing), getComputedStyle(document.body).backgroundColor);
    const picture = (/** @type {string} */ type, /** @type {() => Promise<Blob>} */ make) => button(`Picture (${type})`, () =>
      make().then((blob) => download(blob, `${name}.${type.toLowerCase()}`), (error) => this.app.sayError(error)));
    read("Share", h("div", { class: "stack" },
      h("h2", null, "Share this position"),
      copyable(`Link to ply ${ply}`, link, this.app),
      drawing && h("div", { class: "row" },
        picture("PNG", () => pngOf(text())),
        picture("SVG", async () => new Blob([text()], { type: "image/svg+xml" })))));
  }
}

/** @param {string} text @param {() => unknown} act @param {string} [name] */
function button(text, act, name) {
  return h("button", { type: "button", class: name, onclick: () => Promise.resolve(act()).catch(() => {}) }, text);
}

/** Return an action as text, with its fields in order. @param {Record<string, unknown>} action */
function sorted(action) {
  return JSON.stringify(Object.entries(action).sort());
}

/** Return the ply in the address, or null. */
function plyOfAddress() {
  const ply = new URLSearchParams(location.search).get("ply");
  return ply !== null && /^\d{1,9}$/.test(ply) ? Number(ply) : null;
}
