/** What the keys do while the sheet, not a text field, has the focus. */

import { clear } from "./editing.js";

/** The keys as the page explains them. */
export const KEYS = [
  ["Arrows, Page Up, Page Down", "move; with Shift select a block"],
  ["Ctrl + arrow, Home, End", "to the edge; Ctrl + Home, Ctrl + End to the corners"],
  ["Tab, Enter", "next cell to the right, below; with Shift back"],
  ["Ctrl + A, Ctrl + Space, Shift + Space", "select all, the column, the row"],
  ["Type, F2", "replace the number, edit it; Escape gives up"],
  ["Delete", "set to 0"],
  ["Ctrl + C, X, V", "copy, cut, paste blocks, also from and to a spreadsheet"],
  ["Ctrl + Z, Ctrl + Y", "undo, redo"],
  ["Alt + ← →, Alt + ↑ ↓", "fold and unfold rows, columns"],
  ["Alt + Shift + ← →", "column narrower, wider"],
  ["Alt + Page Up, Page Down", "previous, next sensitive cell, also of other slices"],
  ["Enter, in sheets of a result", "explain the cell; Escape closes the explanation"],
  ["Escape, then Tab", "leave the sheet"],
];

const ARROWS = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };

export class Keys {
  constructor(grid) {
    this.grid = grid;
    // After Escape the next Tab is the browser's: nobody is caught in the sheet.
    this.isLeaving = false;
    grid.viewport.scroller.addEventListener("keydown", (event) => this.#press(event));
    grid.viewport.scroller.addEventListener("focus", () => (this.isLeaving = false));
  }

  #press(event) {
    if (!this.grid.content || event.isComposing) return;
    this.grid.status.tell("");
    const control = event.ctrlKey || event.metaKey;
    const handled = event.altKey && !control
      ? this.#withAlt(event)
      : control
        ? this.#withControl(event)
        : this.#alone(event);
    if (handled) event.preventDefault();
    if (!["Escape", "Tab", "Shift"].includes(event.key)) this.isLeaving = false;
  }

  #alone(event) {
    const { grid, isLeaving } = this;
    const { selection, viewport } = grid;
    const extend = event.shiftKey;
    const back = extend ? -1 : 1;
    if (event.key in ARROWS) selection.move(...ARROWS[event.key], extend);
    else if (event.key === "PageUp") selection.move(-viewport.page, 0, extend);
    else if (event.key === "PageDown") selection.move(viewport.page, 0, extend);
    else if (event.key === "Home") selection.move(0, -Infinity, extend);
    else if (event.key === "End") selection.move(0, Infinity, extend);
    else if (event.key === "Enter" && grid.explains) grid.explain(true);
    else if (event.key === "Enter") selection.step(back, 0);
    // A sheet that takes no entries needs no Tab: it is left to the page.
    else if (event.key === "Tab") return grid.editable && !isLeaving && selection.step(0, back);
    else if (event.key === "Escape") this.#leave();
    else if (event.key === "F2") grid.editor.open();
    else if (event.key === "Delete" || event.key === "Backspace") grid.mayEdit({ evenTotals: true }) && clear(grid);
    else if (event.key === " " && extend) grid.selectLines("row");
    else if (event.key.length === 1) grid.editor.open(event.key.trim());
    else return false;
    return true;
  }

  #withControl(event) {
    const { grid } = this;
    const { selection } = grid;
    const extend = event.shiftKey;
    const key = event.key.toLowerCase();
    if (event.key in ARROWS) selection.jump(...ARROWS[event.key], extend);
    else if (key === "home") selection.select(0, 0, extend);
    else if (key === "end") selection.select(Infinity, Infinity, extend);
    else if (key === "a") selection.selectAll();
    else if (key === " ") grid.selectLines("column");
    else if (key === "y" || (key === "z" && extend)) grid.emit("redo");
    else if (key === "z") grid.emit("undo");
    else return false;
    return true;
  }

  #withAlt(event) {
    const { grid } = this;
    const { row, column } = grid.selection.active;
    if (event.shiftKey && (event.key === "ArrowLeft" || event.key === "ArrowRight")) {
      grid.resizeColumn(column, grid.columns.sizes[column] + (event.key === "ArrowLeft" ? -10 : 10));
    } else if (event.key === "ArrowLeft") grid.foldAround("rows", row);
    else if (event.key === "ArrowRight") grid.fold("rows", row, false);
    else if (event.key === "ArrowUp") grid.foldAround("columns", column);
    else if (event.key === "ArrowDown") grid.fold("columns", column, false);
    else if (event.key === "PageUp") grid.emit("seek", -1);
    else if (event.key === "PageDown") grid.emit("seek", 1);
    else return false;
    return true;
  }

  #leave() {
    this.isLeaving = true;
    this.grid.status.tell("Tab leaves the sheet now; any other key stays.");
  }
}
