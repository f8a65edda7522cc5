// <kibitz-board>: draws a position from its stage and lets a person pick a move on it.
//
// It does not implement any rules: the server lists the possible picks (`picks`). People pick cells
// with a click, a tap, a drag from cell to cell, or arrow keys and Enter; Escape takes the last
// cell back. With the attribute `compact` it is only a picture.

import { apply } from "../wire/merge_patch.js";
import { describe, named } from "./describe.js";
import { Drawing } from "./drawing.js";
import { nearest, neighbour } from "./geometry.js";
import { animate, motions } from "./motion.js";
import { actionText, cellless, completed, nextCells, pressed } from "./picks.js";
import { defineGradients } from "./shapes.js";
import { circlePath, num, svg } from "./svg.js";
import { rebuilds, shapeOf } from "./themes.js";
import { Thumbnail } from "./thumbnail.js";

/** @typedef {import("../wire/messages.js").Stage} Stage */
/** @typedef {import("../wire/paint.js").Paint} Paint */
/** @typedef {import("./geometry.js").Direction} Direction */
/** @typedef {import("./picks.js").Pick} Pick */
/** @typedef {import("./svg.js").Point} Point */
/** @typedef {import("./marks.js").Line} Line */
/** @typedef {{cell: string, fresh: boolean, from: Point, moved: boolean}} Press */

/** @type {Record<string, string>} */
const GLYPHS = { ArrowLeft: "←", ArrowRight: "→", ArrowUp: "↑", ArrowDown: "↓" };
/** @type {Record<string, Direction>} */
const ARROWS = { ArrowLeft: "left", ArrowRight: "right", ArrowUp: "up", ArrowDown: "down" };
const REACH = 34;
const DRAG_FROM = 6;
/** Starting cells are not highlighted if more than this share of cells may begin a move. */
const MANY = 0.4;

export class KibitzBoard extends HTMLElement {
  static observedAttributes = ["compact", "playable", "label"];

  /** @type {Stage | null} */
  #stage = null;
  /** @type {Drawing | Thumbnail | null} */
  #drawing = null;
  /** @type {readonly Pick[] | null} */
  #picks = null;
  /** The cells picked so far. @type {readonly string[]} */
  #prefix = [];
  /** @type {readonly Line[]} */
  #lines = [];
  /** @type {readonly string[]} */
  #names = [];
  /** The cell that keyboard navigation starts from. @type {string | null} */
  #focus = null;
  /** @type {Map<string, SVGElement>} */
  #hits = new Map();
  /** @type {Press | null} */
  #press = null;
  /** @type {Set<Animation>} */
  #running = new Set();

  constructor() {
    super();
    this.svg = svg("svg", { class: "kb-svg", preserveAspectRatio: "xMidYMid meet" });
    this.actions = document.createElement("div");
    this.actions.className = "kb-actions";
    this.text = document.createElement("div");
    this.text.className = "kb-text";
    this.#listen();
  }

  connectedCallback() {
    defineGradients(document);
    if (!this.contains(this.svg)) this.#attach();
  }

  attributeChangedCallback() {
    if (!this.isConnected) return;
    this.#attach();
    this.#redraw();
  }

  #attach() {
    this.replaceChildren(...(this.compact ? [this.svg] : [this.svg, this.actions, this.text]));
    this.#name();
  }

  get compact() {
    return this.hasAttribute("compact");
  }

  set compact(value) {
    this.toggleAttribute("compact", value);
  }

  get stage() {
    return this.#stage;
  }

  /** Redraw everything without animation. */
  set stage(stage) {
    this.#settle();
    this.#stage = stage;
    this.#redraw();
  }

  /**
   * Apply a paint.
   * @param {Paint} paint
   * @param {{animate?: boolean}} [how]
   */
  paint(paint, { animate: moving = true } = {}) {
    const before = this.#stage;
    if (!before) return;
    this.#settle();
    const after = apply(before, paint);
    this.#stage = after;
    if (!this.#drawing || rebuilds(this.#drawing.scenery, after, paint)) this.#redraw();
    else {
      this.#drawing.repaint(after, paint);
      this.#refresh(Object.keys(paint.cells ?? {}), paint.text !== undefined);
    }
    if (moving && this.#moves()) this.#animate(before, after, paint);
  }

  get picks() {
    return this.#picks;
  }

  /** The legal actions, or null if nothing can be picked. */
  set picks(picks) {
    this.#picks = picks && picks.length > 0 ? picks : null;
    this.#prefix = [];
    this.#press = null;
    if (this.#picks && !this.compact && this.#drawing instanceof Drawing &&
      !this.#drawing.buttons && this.#hasButtons()) this.#redraw();
    else this.#show();
  }

  /** The lines of play that bots expect. */
  set lines(/** @type {readonly Line[]} */ lines) {
    this.#lines = lines;
    if (this.#drawing instanceof Drawing) this.#drawing.expect(lines);
  }

  /** The players' names by seat, for labels and text. */
  set seatNames(/** @type {readonly string[]} */ names) {
    this.#names = names;
    if (this.#stage) this.#refresh(Object.keys(this.#stage.cells), true);
  }

  /** Take back the last picked cell. */
  takeBack() {
    if (this.#prefix.length > 0) this.#pick(this.#prefix.slice(0, -1));
  }

  // ----------------------------------------------------------------------------- drawing

  #redraw() {
    const stage = this.#stage;
    if (!stage) return;
    if (this.compact) {
      this.#drawing = new Thumbnail(this.svg, stage);
      return this.#name();
    }
    const focused = this.svg.contains(document.activeElement);
    const buttons = (this.#picks !== null || this.hasAttribute("playable")) && this.#hasButtons();
    const drawing = new Drawing(this.svg, stage, buttons);
    this.#drawing = drawing;
    this.#hits = new Map();
    for (const name of drawing.points.keys()) {
      const hit = svg("path", { class: "kb-hit", "data-cell": name, tabindex: -1 });
      hit.setAttribute("d", shapeOf(drawing.scenery, stage.cells[name]));
      this.#hits.set(name, hit);
    }
    drawing.layers.hits.replaceChildren(...this.#hits.values());
    drawing.expect(this.#lines);
    if (this.#focus === null || !this.#hits.has(this.#focus)) {
      this.#focus = drawing.points.keys().next().value ?? null;
    }
    this.#refresh([...this.#hits.keys()], true);
    this.#show();
    if (focused) this.#moveFocus(this.#focus);
  }

  #hasButtons() {
    return Object.values(this.#stage?.cells ?? {}).some((cell) => cell.kind === "button");
  }

  /** Update the cell labels and the text about the match. */
  #refresh(/** @type {string[]} */ cells, /** @type {boolean} */ text) {
    const stage = /** @type {Stage} */ (this.#stage);
    if (this.compact) return;
    for (const name of cells) {
      const label = stage.cells[name] && describe(name, stage.cells[name], this.#names);
      if (label) this.#hits.get(name)?.setAttribute("aria-label", label);
    }
    if (!text) return;
    this.text.replaceChildren(...stage.text.map((line) => {
      const made = document.createElement("p");
      made.textContent = named(line, this.#names);
      return made;
    }));
  }

  /** Update the label of the whole board. */
  #name() {
    const label = this.getAttribute("label") ?? "board";
    this.svg.setAttribute("role", this.compact ? "img" : "group");
    this.svg.setAttribute("aria-label", label);
  }

  /** Show the cells that can be picked and the ones already picked. */
  #show() {
    const drawing = this.#drawing;
    if (!(drawing instanceof Drawing)) return;
    const picks = this.#picks;
    const next = picks ? nextCells(picks, this.#prefix) : new Set();
    this.classList.toggle("kb-choosing", picks !== null);
    this.classList.toggle("kb-dragging-allowed", picks?.some((pick) => pick.cells.length > 1) ?? false);
    for (const [name, hit] of this.#hits) {
      const legal = next.has(name);
      const taken = this.#prefix.includes(name);
      hit.classList.toggle("kb-legal", legal);
      hit.classList.toggle("kb-picked", taken);
      hit.setAttribute("role", picks ? "button" : "img");
      setOrRemove(hit, "aria-disabled", picks && !legal && !taken ? "true" : null);
      setOrRemove(hit, "aria-pressed", taken ? "true" : null);
      hit.setAttribute("tabindex", name === this.#focus ? "0" : "-1");
    }
    this.#targets(drawing, next);
    this.#buttons();
  }

  /** Highlight the possible next cells. @param {Drawing} drawing @param {Set<string>} next */
  #targets(drawing, next) {
    const { stage } = drawing.scenery;
    const shown = this.#prefix.length > 0 || next.size <= MANY * this.#hits.size ? [...next] : [];
    const dots = [];
    const rings = [];
    for (const name of shown) {
      const at = drawing.points.get(name);
      const cell = stage.cells[name];
      if (!at || cell.kind === "button") continue;
      const free = cell.owner === undefined && !cell.glyph;
      if (free) dots.push(circlePath(at.x, at.y, 7));
      else rings.push(shapeOf(drawing.scenery, cell, 1));
    }
    const chosen = this.#prefix.filter((name) => drawing.points.has(name))
      .map((name) => shapeOf(drawing.scenery, stage.cells[name], 0));
    drawing.layers.targets.replaceChildren(
      svg("path", { d: chosen.join(""), class: "kb-chosen" }),
      svg("path", { d: rings.join(""), class: "kb-target-ring" }),
      svg("path", { d: dots.join(""), class: "kb-target" }),
    );
  }

  /** Show buttons for actions without a cell, and one to take a cell back. */
  #buttons() {
    /** @type {HTMLElement[]} */
    const made = this.#trayButtons();
    for (const pick of cellless(this.#picks ?? [])) {
      made.push(button(actionText(pick.action), () => this.#play(pick)));
    }
    if (this.#prefix.length > 0) made.push(button("Take back", () => this.takeBack()));
    const focused = /** @type {HTMLElement | null} */ (document.activeElement);
    const cell = this.actions.contains(focused) ? focused?.dataset.cell : undefined;
    this.actions.replaceChildren(...made);
    if (cell) made.find((element) => element.dataset.cell === cell)?.focus();
  }

  /** Return the buttons below the board, large enough for a thumb. */
  #trayButtons() {
    const drawing = this.#drawing;
    if (!(drawing instanceof Drawing) || !drawing.buttons) return [];
    const { cells } = drawing.scenery.stage;
    const next = nextCells(this.#picks ?? [], this.#prefix);
    const aside = Object.keys(cells).filter((name) => !drawing.points.has(name));
    return aside.sort((a, b) => cells[a].y - cells[b].y || cells[a].x - cells[b].x).map((name) => {
      const made = button(cells[name].glyph ?? name, () => this.#pressCell(name));
      const words = document.createElement("small");
      words.textContent = name.replaceAll("-", " ");
      made.append(words);
      made.dataset.cell = name;
      made.disabled = !next.has(name);
      return made;
    });
  }

  // ------------------------------------------------------------------------------ motion

  #moves() {
    return !this.compact && !document.hidden && this.isConnected &&
      !matchMedia("(prefers-reduced-motion: reduce)").matches;
  }

  /** @param {Stage} before @param {Stage} after @param {Paint} paint */
  #animate(before, after, paint) {
    const drawing = this.#drawing;
    if (!(drawing instanceof Drawing)) return;
    for (const motion of motions(before, after, paint)) {
      const piece = drawing.pieces.get(motion.cell);
      const names = motion.kind === "way" ? motion.way : [motion.cell];
      const points = names.map((name) => drawing.points.get(name));
      if (!piece || points.some((point) => point === undefined)) continue;
      drawing.layers.pieces.append(piece);
      const running = animate(piece, /** @type {Point[]} */ (points));
      this.#running.add(running);
      running.finished.then(() => this.#running.delete(running), () => {});
    }
  }

  /** Cancel all animations. */
  #settle() {
    for (const running of this.#running) running.cancel();
    this.#running.clear();
  }

  // ------------------------------------------------------------------------------- input

  #listen() {
    this.svg.addEventListener("pointerdown", (event) => this.#down(/** @type {PointerEvent} */ (event)));
    this.svg.addEventListener("pointermove", (event) => this.#move(/** @type {PointerEvent} */ (event)));
    this.svg.addEventListener("pointerup", (event) => this.#up(/** @type {PointerEvent} */ (event)));
    this.svg.addEventListener("pointercancel", () => this.#drop());
    this.svg.addEventListener("keydown", (event) => this.#key(/** @type {KeyboardEvent} */ (event)));
    // Screen readers click without a pointer, so `detail` is 0.
    this.svg.addEventListener("click", (event) => {
      const cell = this.#cellOf(event);
      if (/** @type {MouseEvent} */ (event).detail === 0 && cell) this.#pressCell(cell);
    });
  }

  /** @param {Event} event */
  #cellOf(event) {
    const target = /** @type {Element | null} */ (event.target);
    return target?.closest?.("[data-cell]")?.getAttribute("data-cell") ?? null;
  }

  /** The cell under a pointer, or near it. @param {PointerEvent} event */
  #under(event) {
    const drawing = this.#drawing;
    const at = this.#position(event);
    return drawing instanceof Drawing && at ? nearest(drawing.points, at, REACH) : null;
  }

  /** @param {PointerEvent} event @returns {Point | null} */
  #position(event) {
    const matrix = /** @type {SVGSVGElement} */ (this.svg).getScreenCTM();
    if (!matrix) return null;
    const { x, y } = new DOMPoint(event.clientX, event.clientY).matrixTransform(matrix.inverse());
    return { x, y };
  }

  /** @param {PointerEvent} event */
  #down(event) {
    if (!this.#picks || event.button !== 0 || this.compact) return;
    const cell = this.#cellOf(event) ?? this.#under(event);
    const from = this.#position(event);
    if (cell === null || from === null) return;
    this.#setFocus(cell);
    const next = nextCells(this.#picks, this.#prefix);
    const longer = this.#picks.some((pick) => pick.cells.length > 1);
    // Pick a cell with continuations on pointer down, so that it can be dragged.
    const fresh = longer && !this.#prefix.includes(cell) &&
      (next.has(cell) || nextCells(this.#picks, []).has(cell));
    if (fresh) this.#pressCell(cell);
    if (!this.#picks) return;
    this.#press = { cell, fresh, from, moved: false };
    try {
      this.svg.setPointerCapture(event.pointerId);
    } catch {
      // The pointer is already gone; dragging works without capture too.
    }
  }

  /** @param {PointerEvent} event */
  #move(event) {
    const press = this.#press;
    const at = press && this.#position(event);
    if (!press || !at || !(this.#drawing instanceof Drawing)) return;
    const x = at.x - press.from.x;
    const y = at.y - press.from.y;
    if (Math.hypot(x, y) > DRAG_FROM) press.moved = true;
    const home = this.#drawing.points.get(press.cell);
    const piece = this.#drawing.pieces.get(press.cell);
    if (press.moved && press.fresh && home && piece && this.#prefix.includes(press.cell)) {
      piece.setAttribute("transform", `translate(${num(home.x + x)} ${num(home.y + y)})`);
      this.#drawing.layers.pieces.append(piece);
    }
  }

  /** @param {PointerEvent} event */
  #up(event) {
    const press = this.#press;
    this.#drop();
    if (!press || !this.#picks) return;
    const cell = this.#under(event);
    if (cell === press.cell || cell === null || !press.moved) {
      if (!press.fresh && (cell === press.cell || !press.moved)) this.#pressCell(press.cell);
      return;
    }
    if (nextCells(this.#picks, this.#prefix).has(cell)) this.#pressCell(cell, false);
    else if (press.fresh) this.takeBack();
  }

  /** End a drag: a moved piece returns to its cell. */
  #drop() {
    const press = this.#press;
    this.#press = null;
    if (!press?.moved || !(this.#drawing instanceof Drawing)) return;
    const home = this.#drawing.points.get(press.cell);
    const piece = this.#drawing.pieces.get(press.cell);
    if (home) piece?.setAttribute("transform", `translate(${num(home.x)} ${num(home.y)})`);
  }

  /** @param {KeyboardEvent} event */
  #key(event) {
    if (event.ctrlKey || event.altKey || event.metaKey || this.compact) return;
    const drawing = this.#drawing;
    if (!(drawing instanceof Drawing) || this.#focus === null) return;
    if (this.#arrowButton(event.key)) {
      this.#pressCell(/** @type {string} */ (this.#arrowButton(event.key)));
    } else if (Object.hasOwn(ARROWS, event.key)) {
      this.#moveFocus(neighbour(drawing.points, this.#focus, ARROWS[event.key]) ?? this.#focus);
    } else if (event.key === "Enter" || event.key === " ") {
      this.#pressCell(this.#focus);
    } else if (event.key === "Escape" && this.#prefix.length > 0) {
      this.takeBack();
    } else {
      return;
    }
    event.preventDefault();
    event.stopPropagation();
  }

  /** Return the button with the arrow of this key, if only buttons can be picked. */
  #arrowButton(/** @type {string} */ key) {
    const cells = this.#stage?.cells ?? {};
    const next = [...nextCells(this.#picks ?? [], this.#prefix)];
    if (!Object.hasOwn(GLYPHS, key) || next.some((name) => cells[name]?.kind !== "button")) return null;
    return next.find((name) => cells[name].glyph === GLYPHS[key]) ?? null;
  }

  /** @param {string | null} cell */
  #moveFocus(cell) {
    if (cell === null) return;
    this.#setFocus(cell);
    /** @type {SVGElement | undefined} */ (this.#hits.get(cell))?.focus({ preventScroll: true });
  }

  /** @param {string} cell */
  #setFocus(cell) {
    if (this.#focus !== null) this.#hits.get(this.#focus)?.setAttribute("tabindex", "-1");
    this.#focus = cell;
    this.#hits.get(cell)?.setAttribute("tabindex", "0");
  }

  // ----------------------------------------------------------------------------- picking

  /** @param {string} cell */
  #pressCell(cell, forward = true) {
    if (!this.#picks) return;
    const aimed = forward ? this.#aligned(cell) : cell;
    this.#pick(pressed(this.#picks, this.#prefix, aimed));
  }

  /**
   * Return the button for a press on any cell of its column, if only buttons can be picked: people
   * drop a piece by clicking anywhere in its column.
   * @param {string} cell
   */
  #aligned(cell) {
    const cells = this.#stage?.cells ?? {};
    const next = nextCells(this.#picks ?? [], this.#prefix);
    if (next.has(cell) || [...next].some((name) => cells[name]?.kind !== "button")) return cell;
    const above = [...next].filter((name) => cells[name].x === cells[cell]?.x);
    return above.length === 1 ? above[0] : cell;
  }

  /** @param {readonly string[]} prefix */
  #pick(prefix) {
    const picked = completed(this.#picks ?? [], prefix);
    if (picked) return this.#play(picked);
    this.#prefix = prefix;
    this.#show();
  }

  /**
   * Play a complete action; nothing can be picked until `picks` is set again.
   * @param {Pick} pick
   */
  #play(pick) {
    this.picks = null;
    this.dispatchEvent(new CustomEvent("pick", { detail: { action: pick.action, cells: pick.cells } }));
  }
}

/** @param {Element} element @param {string} name @param {string | null} value */
function setOrRemove(element, name, value) {
  if (value === null) element.removeAttribute(name);
  else element.setAttribute(name, value);
}

/** @param {string} text @param {() => void} act */
function button(text, act) {
  const made = document.createElement("button");
  made.type = "button";
  made.textContent = text;
  made.addEventListener("click", act);
  return made;
}

/** Register the custom element once. */
export function define() {
  if (!customElements.get("kibitz-board")) customElements.define("kibitz-board", KibitzBoard);
}
