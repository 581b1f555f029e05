/** The sheet put together: content, axes, viewport, selection, and those who act on them. */

import { Axis } from "./axis.js";
import { Clipboard } from "./clipboard.js";
import { Companions } from "./companions.js";
import { fetchContent } from "./content.js";
import { Editor } from "./editing.js";
import { Keys } from "./keys.js";
import { combineLooks } from "./looks.js";
import { Measures, NARROWEST, ROW_HEIGHT } from "./measures.js";
import { Mouse } from "./mouse.js";
import { Selection } from "./selection.js";
import { Status } from "./status.js";
import { loadStyle } from "./style.js";
import { Viewport } from "./viewport.js";

/** How long the selection must rest before others hear of it, in milliseconds. */
const REST = 50;

let made = 0;

export class Grid {
  constructor(parent, { editable, explains, name, group, looks, emit }) {
    this.id = `sheet-${++made}`;
    this.editable = editable;
    this.explains = explains;
    this.emit = emit;
    this.looks = combineLooks(looks);
    this.content = null;
    this.early = [];
    const container = document.createElement("div");
    container.className = "sheet";
    parent.append(container);
    this.viewport = new Viewport(this, container, name);
    this.status = new Status(this, container);
    this.selection = new Selection(this);
    this.editor = new Editor(this);
    this.keys = new Keys(this);
    this.mouse = new Mouse(this);
    this.clipboard = new Clipboard(this);
    this.companions = new Companions(this, group);
    // Whatever is clicked next is meant for the cells that are selected now.
    container.addEventListener("focusout", () => this.#hurry());
  }

  /** Fetch a content and show it; changes that arrive meanwhile are made afterwards. */
  async load(source, version) {
    this.wanted = version;
    this.early = [];
    try {
      const [content] = await Promise.all([fetchContent(source, version), loadStyle()]);
      if (this.wanted === version) this.#show(content, version);
    } catch (error) {
      this.status.tell(error.message);
    }
  }

  patch(changes) {
    // Also while a content is under way: it may have been put together before these changes.
    if (this.wanted !== this.version) this.early.push(...changes);
    if (!this.content) return;
    for (const [row, column, text, flags] of changes) {
      if (row < this.rows.codes.length && column < this.columns.codes.length) this.content.set(row, column, text, flags);
    }
    this.viewport.draw(true);
    this.status.describe();
  }

  /** Fold or unfold a line; the selection moves to what is left of it. */
  fold(axis, position, folded) {
    if (!this[axis].hasChildren[position]) return;
    this[axis].fold(position, folded);
    this.#folded();
    this.status.tell(`${this[axis].codes[position]} ${folded ? "folded" : "unfolded"}.`);
    this.companions.fold(axis, this[axis]);
  }

  /** Fold the line itself, or, if it has nothing to fold, the line that it belongs to. */
  foldAround(axis, position) {
    const { hasChildren, folded, parents } = this[axis];
    const line = hasChildren[position] && !folded[position] ? position : parents[position];
    if (line >= 0) this.fold(axis, line, true);
  }

  foldTo(axis, depth) {
    if (!this.content) return;
    this[axis].foldTo(depth);
    this.#folded();
    this.companions.fold(axis, this[axis]);
  }

  resizeColumn(column, width) {
    this.columns.resize(column, Math.max(NARROWEST, Math.round(width)));
    this.viewport.draw(true);
    this.companions.resize(column, this.columns.sizes[column]);
  }

  fitColumn(column) {
    this.resizeColumn(column, this.measures.fit(this.content, column, this.looks));
  }

  /** Put the focus on a cell of the content of a version; if that is still under way, once it is there. */
  go(row, column, version) {
    const isThere = this.version >= version;
    this.going = isThere ? null : [row, column, version];
    if (!isThere) return;
    for (const [axis, position] of [["rows", row], ["columns", column]]) {
      if (this[axis].isShown(position)) continue;
      this[axis].reveal(position);
      this.companions.fold(axis, this[axis]);
    }
    this.viewport.draw(true);
    this.selection.select(this.rows.placeOf(row), this.columns.placeOf(column));
    this.focus();
    this.viewport.scroller.scrollIntoView({ block: "nearest" });
  }

  /** Ask for an explanation of the active cell; `isByKey` if the focus shall follow it. */
  explain(isByKey) {
    this.#hurry();
    this.emit("explain", { ...this.selection.active, isByKey });
  }

  /** Select the whole rows or columns of the block. */
  selectLines(kind) {
    const { top, bottom, left, right } = this.selection.block;
    const last = { row: this.rows.count - 1, column: this.columns.count - 1 };
    const [from, to] = kind === "row"
      ? [{ row: top, column: 0 }, { row: bottom, column: last.column }]
      : [{ row: 0, column: left }, { row: last.row, column: right }];
    this.selection.selectBlock(from, to, this.selection.place);
  }

  /** Draw the selection, follow the cell that moved, and tell the server when it rests. */
  selectionChanged({ follow = true } = {}) {
    const { head, anchor, active } = this.selection;
    // Selecting whole lines ends far away; what was clicked stays in view.
    const spans = (axis, one, other) => axis.count > 1 && Math.abs(axis.placeOf(one) - axis.placeOf(other)) === axis.count - 1;
    const moved = head === anchor ? active : head;
    if (follow) {
      const row = spans(this.rows, head.row, anchor.row) ? this.rows.at(this.viewport.scroller.scrollTop + 1) : this.rows.placeOf(moved.row);
      const column = spans(this.columns, head.column, anchor.column)
        ? this.columns.at(this.viewport.scroller.scrollLeft + 1)
        : this.columns.placeOf(moved.column);
      this.viewport.reveal(row, column);
    }
    this.viewport.drawSelection();
    clearTimeout(this.resting);
    this.resting = setTimeout(() => this.#hurry(), REST);
  }

  /** Whether the active cell takes an entry; if not, say why. */
  mayEdit({ evenTotals = false } = {}) {
    const { row, column } = this.selection.active;
    if (this.editable && (evenTotals || !this.content.isTotal(row, column))) return true;
    this.refuse();
    return false;
  }

  refuse() {
    const { row, column } = this.selection.active;
    const reason = this.editable ? "a sum: change its parts" : "shown only, it cannot be changed here";
    this.status.tell(`${this.nameOf(row, column)} is ${reason}.`);
    const cell = this.viewport.cellAt(row, column);
    cell?.classList.add("sheet-refused");
    setTimeout(() => cell?.classList.remove("sheet-refused"), 400);
  }

  nameOf(row, column) {
    return `${this.rows.nameOf(row)}, ${this.columns.nameOf(column)}`;
  }

  setEditable(editable) {
    this.editable = editable;
    this.viewport.draw(true);
  }

  focus() {
    this.viewport.scroller.focus({ preventScroll: true });
  }

  remove() {
    clearTimeout(this.resting);
    this.viewport.remove();
    this.companions.leave();
  }

  #show(content, version) {
    const before = { rows: this.rows, columns: this.columns };
    if (this.editor.isOpen && !this.editor.survives(content)) this.editor.close(false);
    this.content = content;
    this.version = version;
    this.measures ??= new Measures(this.viewport.scroller);
    this.rows = new Axis(content.rows, content.rows.codes.map(() => ROW_HEIGHT));
    this.columns = new Axis(content.columns, this.measures.columnWidths(content));
    if (before.rows) {
      this.rows.takeOver(before.rows);
      this.columns.takeOver(before.columns);
    }
    this.selection.clamp(this.rows.codes.length, this.columns.codes.length);
    this.selection.settle();
    const headerHeight = this.measures.headerHeight(this.columns);
    this.viewport.arrange(this.measures.rowHeaderWidth(content, headerHeight), headerHeight);
    if (this.early.length) this.patch(this.early.splice(0));
    else this.status.describe();
    if (this.going) this.go(...this.going);
  }

  #folded() {
    this.selection.settle();
    this.viewport.draw(true);
    this.selectionChanged();
  }

  /** Tell of a selection that nobody has been told of yet. */
  #hurry() {
    if (!this.resting) return;
    clearTimeout(this.resting);
    this.resting = null;
    this.#selected();
  }

  #selected() {
    const { top, bottom, left, right } = this.selection.block;
    this.status.describe();
    this.companions.select(this.selection);
    this.emit("select", {
      ...this.selection.active,
      rows: this.rows.runs(top, bottom),
      columns: this.columns.runs(left, right),
    });
  }
}
