// Small live boards of running matches, drawn by <kibitz-board compact>.

/** @typedef {import("../main.js").App} App */
/** @typedef {import("../wire/match.js").Change} Change */
/** @typedef {import("../wire/match.js").MatchModel} MatchModel */
/** @typedef {import("../wire/paint.js").Paint} Paint */
/** @typedef {import("../wire/messages.js").Stage} Stage */
/** @typedef {HTMLElement & {stage: Stage, seatNames: string[], paint: (paint: Paint) => void}} KibitzBoard */
/** @typedef {{board: KibitzBoard, model: MatchModel, stop: () => void}} Shown */

const PAUSE_MS = 300;

const DRAWS_BOARDS = "../board/board.js";

/** Load the board element, which only some pages need; if that fails, they show no boards. */
export async function loadBoards() {
  try {
    const { define } = await import(DRAWS_BOARDS);
    define();
  } catch (error) {
    console.error(error);
  }
}

/** The boards of one page. One `wall` request follows all their matches. */
export class Thumbnails {
  /** @type {Map<string, Shown>} */
  #shown = new Map();
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #asking;
  #asked = false;

  /** @param {App} app */
  constructor(app) {
    this.app = app;
    app.connection.addEventListener("welcome", this.#again);
  }

  /**
   * Return the board of a match, the same element each time; null if it cannot be drawn.
   * @param {string} id
   */
  board(id) {
    const shown = this.#shown.get(id);
    if (shown) return shown.board;
    if (!customElements.get("kibitz-board")) return null;
    const board = /** @type {KibitzBoard} */ (document.createElement("kibitz-board"));
    board.setAttribute("compact", "");
    const model = this.app.matches.open(id, { follow: false });
    const draw = () => {
      if (model.stage) board.stage = model.stage;
      board.seatNames = model.seats;
    };
    const listen = (/** @type {Event} */ event) => {
      const { paint, why } = /** @type {CustomEvent<Change>} */ (event).detail;
      if (why === "event" && paint) board.paint(paint);
      else if (why === "snapshot" || why === "finished") draw();
      else if (why === "gap") this.#again();
    };
    model.addEventListener("change", listen);
    this.#shown.set(id, { board, model, stop: () => model.removeEventListener("change", listen) });
    draw();
    this.#askSoon();
    return board;
  }

  /**
   * Stop following all matches except these.
   * @param {Set<string>} ids
   */
  keep(ids) {
    for (const [id, { stop }] of this.#shown) {
      if (ids.has(id)) continue;
      stop();
      this.app.matches.close(id);
      this.#shown.delete(id);
      this.#askSoon();
    }
  }

  /** Remove all boards and stop following. */
  close() {
    this.keep(new Set());
    clearTimeout(this.#asking);
    this.app.connection.removeEventListener("welcome", this.#again);
    if (this.#asked) this.app.connection.request({ type: "wall", matches: [] }).catch(() => {});
  }

  /**
   * Tell the server soon which matches are shown: at most every `PAUSE_MS`, but the first time
   * without a pause.
   */
  #askSoon() {
    this.#asking ??= setTimeout(() => {
      this.#asking = undefined;
      this.#ask();
    }, this.#asked ? PAUSE_MS : 0);
  }

  #again = () => {
    if (this.#shown.size) this.#askSoon();
  };

  #ask() {
    this.#asked = true;
    const own = new Set(this.app.matches.seated);
    const matches = [...this.#shown.keys()].filter((id) => !own.has(id));
    this.app.connection.request({ type: "wall", matches }).catch((error) => this.app.sayError(error));
  }
}
