// Small live boards of running matches, drawn by <kibitz-board compact>.

/** @typedef {import("../main.js").App} App */
/** @typedef {import("../wire/match.js").Change} Change */
/** @typedef {import("../wire/match.js").MatchModel} MatchModel */
/** @typedef {import("../wire/messages.js").Stage} Stage */
/** @typedef {HTMLElement & {stage: Stage, paint: (paint: object) => void, seatNames: string[]}} Board */

/** Return whether boards can be drawn, and register what draws them. */
export async function haveBoards() {
  const { define } = await import("../board/board.js");
  define();
}

/** The boards of one page; each is followed while it is shown. */
export class Thumbnails {
  /** @type {Map<string, {board: Board, model: MatchModel, listen: (event: Event) => void}>} */
  #shown = new Map();

  /** @param {App} app */
  constructor(app) {
    this.app = app;
  }

  /**
   * Return the board of a match, the same one each time.
   * @param {string} id
   */
  board(id) {
    const found = this.#shown.get(id);
    if (found) return found.board;
    const board = /** @type {Board} */ (document.createElement("kibitz-board"));
    board.setAttribute("compact", "");
    const model = this.app.matches.open(id);
    const draw = () => {
      if (model.stage) board.stage = model.stage;
      board.seatNames = model.seats;
    };
    const listen = (/** @type {Event} */ event) => {
      const { paint, why } = /** @type {CustomEvent<Change>} */ (event).detail;
      if (why === "event" && paint) board.paint(paint);
      else if (why === "snapshot" || why === "finished") draw();
    };
    model.addEventListener("change", listen);
    this.#shown.set(id, { board, model, listen });
    draw();
    return board;
  }

  /**
   * Leave off following every match that is not among these.
   * @param {Set<string>} ids
   */
  keep(ids) {
    for (const [id, { model, listen }] of this.#shown) {
      if (ids.has(id)) continue;
      model.removeEventListener("change", listen);
      this.app.matches.close(id);
      this.#shown.delete(id);
    }
  }
}
