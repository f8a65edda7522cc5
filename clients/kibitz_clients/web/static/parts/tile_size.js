// How large the tiles of a grid are, and what names fit into them: measured once for all tiles.

/** Sizes of names in CSS pixels, as parts of the tile's smaller side: of two players, and of more. */
const TWO = { least: 10, part: 0.064, most: 44 };
const MORE = { least: 10, part: 0.052, most: 36 };
/** What stands beside a name, in sizes of its letters: the mark of the seat, and gaps. */
const MARK = 1.5;
const GAP = 0.25;
/** What a clock may read, at its widest. */
const CLOCK = "00:00";
const BORDER = 1;
/** What is left free at the sides, as a part of the tile's smaller side (wall.css). */
const PADDING = 0.03;

/** @type {CanvasRenderingContext2D | null} */
let context = null;

export class TileSize {
  /**
   * @param {number} width of a tile in CSS pixels
   * @param {number} side its smaller side
   * @param {string} family of the letters
   */
  constructor(width, side, family) {
    this.width = width;
    this.side = side;
    this.family = family;
  }

  /** @param {TileSize | null} other */
  equals(other) {
    return other !== null && other.width === this.width && other.side === this.side &&
      other.family === this.family;
  }

  /** The sizes of letters as properties of the styles. */
  get properties() {
    return {
      "--tile": `${this.side}px`,
      "--name-two": `${lettersOf(TWO, this.side)}px`,
      "--name-more": `${lettersOf(MORE, this.side)}px`,
    };
  }

  /**
   * Return what says whether a name fits: of two players, whose clocks stand behind them, or of
   * more, who stand two by two.
   * @param {boolean} two
   * @returns {(text: string) => boolean}
   */
  fits(two) {
    const size = lettersOf(two ? TWO : MORE, this.side);
    const inner = this.width - 2 * BORDER - 2 * PADDING * this.side;
    const column = two ? inner : (inner - 0.01 * this.side) / 2;
    const beside = MARK * size + (two ? this.#measure(CLOCK, size) + GAP * size : 0);
    return (text) => this.#measure(text, size) <= column - beside;
  }

  /** How wide a text is in the letters of who is to move, which are the widest. @param {string} text @param {number} size */
  #measure(text, size) {
    context ??= document.createElement("canvas").getContext("2d");
    if (!context) return text.length * size;
    const font = `600 ${size}px ${this.family}`;
    if (context.font !== font) context.font = font;
    return Math.ceil(context.measureText(text).width);
  }
}

/** @param {{least: number, part: number, most: number}} letters @param {number} side */
function lettersOf({ least, part, most }, side) {
  return Math.min(most, Math.max(least, Math.round(part * side * 10) / 10));
}
