/** The field that lies over a cell while it is edited, and the way of entries to the server. */

import { element } from "./drawing.js";
import { plain } from "./content.js";

/** The channel to the server takes messages below a million characters; separators are escaped on the way. */
const LARGEST = 900_000;

export class Editor {
  constructor(grid) {
    this.grid = grid;
    this.field = element("input", "sheet-editor", { type: "text", inputmode: "decimal", autocomplete: "off", spellcheck: false });
    this.field.hidden = true;
    grid.viewport.stage.append(this.field);
    this.field.addEventListener("keydown", (event) => this.#key(event));
    // Whoever leaves the field by the mouse or by changing the window keeps what was typed.
    this.field.addEventListener("blur", () => this.close(true));
  }

  get isOpen() {
    return !this.field.hidden;
  }

  /** Edit the active cell: its present text, or, replacing, what has just been typed. */
  open(replacement = null) {
    const { grid } = this;
    if (!grid.mayEdit()) return;
    const { row, column } = grid.selection.active;
    const place = grid.selection.place;
    grid.viewport.reveal(place.row, place.column);
    this.cell = { row, column };
    this.before = plain(grid.content.text(row, column));
    this.isReplacing = replacement !== null;
    this.field.value = replacement ?? this.before;
    this.field.setAttribute("aria-label", grid.nameOf(row, column));
    this.field.hidden = false;
    this.follow();
    this.field.focus({ preventScroll: true });
    if (!this.isReplacing) this.field.select();
  }

  /** Lie over the cell, wherever it has been scrolled to. */
  follow() {
    if (!this.isOpen) return;
    const { rows, columns, viewport } = this.grid;
    const { left, top, width, height } = viewport.rectangle(rows.placeOf(this.cell.row), columns.placeOf(this.cell.column));
    Object.assign(this.field.style, { left: `${left}px`, top: `${top}px`, minWidth: `${width}px`, height: `${height}px` });
  }

  /** Whether the cell that is edited is the same, by its codes, in another content. */
  survives(content) {
    const { rows, columns } = this.grid;
    const { row, column } = this.cell;
    return content.rows.codes[row] === rows.codes[row] && content.columns.codes[column] === columns.codes[column];
  }

  /** End editing; with `keep` the text becomes an entry, unless it is the old one. */
  close(keep) {
    if (!this.isOpen) return;
    const text = this.field.value.trim();
    this.field.hidden = true;
    const { row, column } = this.cell;
    if (keep && text !== this.before) submit(this.grid, [[row, row]], [[column, column]], [[text || "0"]]);
  }

  #key(event) {
    event.stopPropagation();
    const { selection } = this.grid;
    const steps = {
      Enter: () => selection.step(event.shiftKey ? -1 : 1, 0),
      Tab: () => selection.step(0, event.shiftKey ? -1 : 1),
      Escape: () => {},
    };
    // A cell that is typed over is left with the arrows, as in spreadsheets; after F2 they move in the text.
    if (this.isReplacing) {
      Object.assign(steps, {
        ArrowUp: () => selection.move(-1, 0),
        ArrowDown: () => selection.move(1, 0),
        ArrowLeft: () => selection.move(0, -1),
        ArrowRight: () => selection.move(0, 1),
      });
    }
    if (event.key === "F2") this.isReplacing = false;
    const step = steps[event.key];
    if (!step || event.isComposing) return;
    event.preventDefault();
    this.close(event.key !== "Escape");
    this.grid.focus();
    step();
  }
}

/**
 * Send a block of texts as one entry and show it at once.
 *
 * `rows` and `columns` are runs of positions; a blank text leaves its cell alone. Texts of sums are sent only to be
 * compared with what the parts add up to.
 */
export function submit(grid, rows, columns, texts) {
  const [rowPositions, columnPositions] = [positions(rows), positions(columns)];
  const message = texts.map((line) => line.join("\t")).join("\n");
  if (message.length + 2 * rowPositions.length * columnPositions.length > LARGEST) {
    grid.status.tell("That is too much for one step: take fewer cells, or open it as a file on the page Start.");
    return;
  }
  let sums = 0;
  rowPositions.forEach((row, i) => {
    columnPositions.forEach((column, j) => {
      if (grid.content.isTotal(row, column)) sums += 1;
      else if (texts[i][j] !== "") grid.content.expect(row, column, texts[i][j]);
    });
  });
  const count = rowPositions.length * columnPositions.length;
  if (sums === count) {
    grid.refuse();
    return;
  }
  const set = count - sums;
  if (sums) grid.status.tell(`${set} ${set > 1 ? "cells" : "cell"} set; ${sums} ${sums > 1 ? "sums follow" : "sum follows"}.`);
  grid.viewport.draw(true);
  grid.emit("edit", { version: grid.version, rows, columns, texts: message });
}

/** Set every cell of the block to zero. */
export function clear(grid) {
  const { top, bottom, left, right } = grid.selection.block;
  const { rows, columns, content } = grid;
  const texts = rows.shown.slice(top, bottom + 1).map((row) =>
    columns.shown.slice(left, right + 1).map((column) => (content.text(row, column) === "" || content.isTotal(row, column) ? "" : "0")));
  submit(grid, rows.runs(top, bottom), columns.runs(left, right), texts);
}

function positions(runs) {
  return runs.flatMap(([first, last]) => Array.from({ length: last - first + 1 }, (_, index) => first + index));
}
