/** Copy, cut and paste of blocks as tab-separated text, which is what spreadsheets exchange. */

import { plain } from "./content.js";
import { clear, submit } from "./editing.js";

/** The fields of tab-separated text; fields in quotes may hold tabs, line ends and doubled quotes. */
export function parse(text) {
  const lines = [[]];
  const field = /(?:"((?:[^"]|"")*)"|([^\t\r\n]*))(\t|\r\n|\r|\n|$)/y;
  while (field.lastIndex < text.length) {
    const [, quoted, bare, end] = field.exec(text) ?? [];
    if (end === undefined) break;
    lines.at(-1).push((quoted?.replaceAll('""', '"').replace(/[\t\r\n]+/g, " ") ?? bare).trim());
    if (end === "\t" && field.lastIndex === text.length) lines.at(-1).push("");
    else if (end !== "\t" && field.lastIndex < text.length) lines.push([]);
  }
  return lines;
}

/** The block as tab-separated text. */
export function format(grid) {
  const { top, bottom, left, right } = grid.selection.block;
  const { rows, columns, content } = grid;
  return rows.shown
    .slice(top, bottom + 1)
    .map((row) => columns.shown.slice(left, right + 1).map((column) => plain(content.text(row, column))).join("\t"))
    .join("\n");
}

export class Clipboard {
  constructor(grid) {
    this.grid = grid;
    const { scroller } = grid.viewport;
    for (const name of ["copy", "cut", "paste"]) {
      scroller.addEventListener(name, (event) => {
        if (grid.editor.isOpen || !grid.content) return;
        event.preventDefault();
        this[name](event.clipboardData);
      });
    }
  }

  copy(data) {
    data.setData("text/plain", format(this.grid));
    const { isSingle, block } = this.grid.selection;
    const size = `${block.bottom - block.top + 1} × ${block.right - block.left + 1} cells`;
    this.grid.status.tell(`Copied ${isSingle ? "1 cell" : size}.`);
  }

  cut(data) {
    this.copy(data);
    if (this.grid.mayEdit({ evenTotals: true })) clear(this.grid);
  }

  paste(data) {
    const { grid } = this;
    const fields = parse(data.getData("text/plain"));
    if (!fields[0].length || !grid.mayEdit({ evenTotals: true })) return;
    const { rows, columns, content } = grid;
    const { top, left } = grid.selection.block;
    const [height, width] = this.#extent(fields);
    const bottom = Math.min(top + height, rows.count) - 1;
    const right = Math.min(left + width, columns.count) - 1;
    const fieldWidth = Math.max(...fields.map((line) => line.length));
    const isRepeated = height > fields.length || width > fieldWidth;
    const texts = rows.shown.slice(top, bottom + 1).map((row, i) =>
      columns.shown.slice(left, right + 1).map((column, j) => {
        const text = fields[i % fields.length][j % fieldWidth];
        // What fills a block again and again says nothing of its sums, and neither does a blank.
        if (content.isTotal(row, column)) return isRepeated ? "" : (text ?? "");
        // A blank field empties a cell, which is to say zero; a field that is not there leaves it alone.
        return text === "" && content.text(row, column) !== "" ? "0" : (text ?? "");
      }));
    submit(grid, rows.runs(top, bottom), columns.runs(left, right), texts);
    const lost = height * width - (bottom - top + 1) * (right - left + 1);
    if (lost) grid.status.tell(`${lost} of ${height * width} pasted cells lie beyond the sheet and were left out.`);
    grid.selection.selectBlock({ row: top, column: left }, { row: bottom, column: right });
  }

  /** Rows and columns to fill: the block, where the fields go into it a whole number of times. */
  #extent(fields) {
    const { top, bottom, left, right } = this.grid.selection.block;
    const [height, width] = [fields.length, Math.max(...fields.map((line) => line.length))];
    const [blockHeight, blockWidth] = [bottom - top + 1, right - left + 1];
    return blockHeight % height === 0 && blockWidth % width === 0 ? [blockHeight, blockWidth] : [height, width];
  }
}
