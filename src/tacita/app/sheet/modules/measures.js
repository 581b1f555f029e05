/** Sizes in pixels: lines are as wide as what they hold, within bounds. */

import { grouped } from "./content.js";

export const ROW_HEIGHT = 26;
export const HEADER_HEIGHT = 30;
/** How far a deeper column stands below its parent, and a deeper row to the right of it. */
export const COLUMN_STEP = 16;
export const ROW_STEP = 14;
export const NARROWEST = 40;

const PADDING = 18;
/** Before a number there is room for its sign. */
const PADDING_OF_NUMBERS = 32;
const BUTTON = 24;
const NARROW = 64;
const WIDE = 240;
/** Space between a code and its label. */
const GAP = 6;
/** A label widens a column up to here: as many columns as possible stay in view, and labels can be pointed at. */
const WIDE_FOR_LABEL = 150;
const DEEPEST_STEP = 5;

/** Measures texts in the font of an element, in the weight of sums, which is the widest. */
export class Measures {
  constructor(element) {
    const style = getComputedStyle(element);
    this.pen = document.createElement("canvas").getContext("2d");
    this.pen.font = `650 ${style.fontSize} ${style.fontFamily}`;
    this.digit = this.pen.measureText("0").width;
  }

  headerHeight(columns) {
    return HEADER_HEIGHT + COLUMN_STEP * Math.min(columns.deepest, DEEPEST_STEP);
  }

  /** Width of each column: from the lengths of its texts, which is enough where digits have one width. */
  columnWidths(content) {
    const longest = content.columns.codes.map(() => 0);
    for (const line of content.texts) {
      for (let column = 0; column < longest.length; column++) {
        // Commas make a text longer by a third at most, and few texts need to be looked at.
        if (line[column].length * 4 > longest[column] * 3) longest[column] = Math.max(longest[column], grouped(line[column]).length);
      }
    }
    const { codes, labels, parents } = content.columns;
    const inner = new Set(parents);
    return longest.map((length, column) => {
      const beside = PADDING + (inner.has(column) ? BUTTON : 0);
      const header = this.#width(codes[column]) + beside;
      const labelled = Math.min(header + this.#labelWidth(labels[column]), WIDE_FOR_LABEL);
      return within(NARROW, Math.max(length * this.digit + PADDING_OF_NUMBERS, header, labelled), WIDE);
    });
  }

  /** Width that shows all texts of one column in full. */
  fit(content, column, looks) {
    const widths = content.texts.map((line, row) =>
      this.#width(grouped(line[column]) + looks[content.flag(row, column)].signs) + this.digit);
    const { codes, labels } = content.columns;
    widths.push(this.#width(codes[column]) + this.#labelWidth(labels[column]) + BUTTON);
    return Math.max(NARROW, widths.reduce((most, width) => Math.max(most, width), 0) + PADDING);
  }

  /** Width of the row headers. Only the longest codes are measured: measuring each of 100,000 takes long. */
  rowHeaderWidth({ rows, rowTitle, columnTitle }, headerHeight) {
    const indent = (position) => rows.depths[position] * ROW_STEP + BUTTON;
    const longest = rows.codes
      .map((code, position) => [(code.length + (rows.labels[position] ?? "").length) * this.digit + indent(position), position])
      .sort(([one], [other]) => other - one)
      .slice(0, 50)
      .map(([, position]) => this.#width(rows.codes[position]) + this.#labelWidth(rows.labels[position]) + indent(position));
    const [row, column] = [this.#width(`${rowTitle} ↓`), this.#width(`${columnTitle} →`)];
    // Where the head is high enough they stand one below the other.
    const titles = headerHeight > HEADER_HEIGHT ? Math.max(row, column) : row + column + PADDING;
    return within(NARROW, Math.max(titles, ...longest) + PADDING, WIDE + 80);
  }

  #labelWidth(label) {
    return label ? this.#width(label) + GAP : 0;
  }

  #width(text) {
    return this.pen.measureText(text).width;
  }
}

function within(least, size, most) {
  return Math.round(Math.max(least, Math.min(most, size)));
}
