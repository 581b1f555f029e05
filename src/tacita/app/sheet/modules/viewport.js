/**
 * What is visible of the sheet.
 *
 * The scroll area is native: an empty box as large as the whole sheet. On it a stage sticks to the visible
 * part and carries the cells that are in view, drawn in the scroll event itself. The browser may scroll before
 * the stage is drawn anew; then it shows the cells of a moment ago, but never nothing.
 */

import { documentIndex, drawCell, drawColumnHeader, drawRowHeader, element, makeCell, makeHeader } from "./drawing.js";
import { HEADER_HEIGHT } from "./measures.js";
import { Recycled } from "./recycle.js";

/** Lines drawn beyond each edge, so that a small step needs no new ones. */
const MARGIN = 2;
/** Row headers give way down to so many pixels, or that share of a narrow sheet, where all columns are in view then. */
const LEAST_HEADER = 170;
const MOST_SHARE = 0.45;
/** Where columns are out of view in any case, row headers get this share of the sheet. */
const USUAL_SHARE = 0.28;

export class Viewport {
  constructor(grid, parent, name) {
    this.grid = grid;
    this.scroller = element("div", "sheet-scroller", {
      role: "grid",
      tabindex: 0,
      "aria-label": name,
      "aria-multiselectable": true,
    });
    this.box = element("div", "sheet-box");
    this.stage = element("div", "sheet-stage");
    this.head = element("div", "sheet-head", { role: "row", "aria-rowindex": 1 });
    this.corner = element("div", "sheet-header sheet-corner", { role: "columnheader", "aria-colindex": 1 });
    this.headLane = element("div", "sheet-lane");
    this.body = element("div", "sheet-body");
    this.frame = element("div", "sheet-frame");
    this.overlay = element("div", "sheet-overlay");
    this.overlay.append(this.frame);
    this.head.append(this.corner, this.headLane);
    this.stage.append(this.head, this.body, this.overlay);
    this.box.append(this.stage);
    this.scroller.append(this.box);
    parent.append(this.scroller);
    this.headers = new Recycled(this.headLane, () => makeHeader("columnheader"));
    this.lines = new Recycled(this.body, makeLine);
    this.scroller.addEventListener("scroll", () => this.draw());
    this.resized = new ResizeObserver(() => this.draw(true));
    this.resized.observe(this.scroller);
  }

  /** After another content: sizes of the headers, and everything drawn anew. */
  arrange(headerWidth, headerHeight) {
    const { content, rows, columns } = this.grid;
    this.fullHeaderWidth = headerWidth;
    this.headerHeight = headerHeight;
    this.stage.style.setProperty("--header-height", `${headerHeight}px`);
    this.scroller.setAttribute("aria-rowcount", rows.codes.length + 1);
    this.scroller.setAttribute("aria-colcount", columns.codes.length + 1);
    this.corner.replaceChildren(...titles(content));
    this.corner.classList.toggle("sheet-high", headerHeight > HEADER_HEIGHT);
    this.draw(true);
  }

  /** Draw what is in view; with `force`, also what has been drawn already. */
  draw(force = false) {
    const { grid, scroller } = this;
    if (!grid.content || scroller.clientHeight === 0) return;
    const { rows, columns } = grid;
    if (force) this.#fit();
    this.box.style.width = `${this.headerWidth + columns.extent}px`;
    this.box.style.height = `${this.headerHeight + rows.extent}px`;
    // Read once, before anything else is written: a later look would make the browser lay out all anew.
    const { clientWidth, clientHeight, scrollLeft: left, scrollTop: top } = scroller;
    Object.assign(this, { left, top });
    this.stage.style.width = `${clientWidth}px`;
    this.stage.style.height = `${clientHeight}px`;
    const [firstRow, rowCount] = range(rows, top, clientHeight - this.headerHeight);
    const [firstColumn, columnCount] = range(columns, left, clientWidth - this.headerWidth);
    const shift = `translateX(${this.headerWidth - left}px)`;

    this.headLane.style.transform = shift;
    this.headers.cover(firstColumn, columnCount, force, (header, place) =>
      drawColumnHeader(header, columns, columns.shown[place], this.headerHeight));
    this.lines.cover(firstRow, rowCount, force, (line, place) => {
      line.position = rows.shown[place];
      line.redraw = true;
      line.element.setAttribute("aria-rowindex", documentIndex(line.position));
      drawRowHeader(line.header, rows, line.position);
    });
    for (const line of this.lines.items) {
      line.element.style.transform = `translateY(${this.headerHeight + rows.offsets[line.place] - top}px)`;
      line.lane.style.transform = shift;
      line.cells.cover(firstColumn, columnCount, line.redraw, (cell, place) =>
        drawCell(cell, grid, line.position, columns.shown[place]));
      line.redraw = false;
    }
    this.drawSelection();
    grid.editor.follow();
  }

  /** Show the selection on what is drawn. */
  drawSelection() {
    const { rows, columns, selection } = this.grid;
    const { top, bottom, left, right } = selection.block;
    const active = selection.place;
    let activeCell = null;
    for (const header of this.headers.items) {
      header.element.classList.toggle("sheet-within", header.place >= left && header.place <= right);
    }
    for (const line of this.lines.items) {
      const inRows = line.place >= top && line.place <= bottom;
      line.header.element.classList.toggle("sheet-within", inRows);
      for (const cell of line.cells.items) {
        const selected = inRows && cell.place >= left && cell.place <= right;
        if (cell.selected !== selected) {
          cell.selected = selected;
          cell.element.setAttribute("aria-selected", selected);
        }
        if (line.place === active.row && cell.place === active.column) activeCell = cell.element;
      }
    }
    this.#markActive(activeCell);
    const { style } = this.frame;
    const x = columns.offsets[left] - this.left;
    const y = rows.offsets[top] - this.top;
    style.transform = `translate(${x}px, ${y}px)`;
    style.width = `${columns.offsets[right + 1] - columns.offsets[left]}px`;
    style.height = `${rows.offsets[bottom + 1] - rows.offsets[top]}px`;
  }

  /** Scroll as little as needed to have a cell in view. */
  reveal(row, column) {
    const { rows, columns } = this.grid;
    const { scroller } = this;
    scroller.scrollTop = nearest(scroller.scrollTop, scroller.clientHeight - this.headerHeight, rows, row);
    scroller.scrollLeft = nearest(scroller.scrollLeft, scroller.clientWidth - this.headerWidth, columns, column);
    this.draw();
  }

  /** Where a cell lies on the stage. */
  rectangle(row, column) {
    const { rows, columns } = this.grid;
    return {
      left: this.headerWidth + columns.offsets[column] - this.left,
      top: this.headerHeight + rows.offsets[row] - this.top,
      width: columns.offsets[column + 1] - columns.offsets[column],
      height: rows.offsets[row + 1] - rows.offsets[row],
    };
  }

  /** The places below a point of the window, and whether it is over the headers. */
  locate(clientX, clientY) {
    const { rows, columns } = this.grid;
    const bounds = this.stage.getBoundingClientRect();
    const x = clientX - bounds.left - this.headerWidth;
    const y = clientY - bounds.top - this.headerHeight;
    return {
      row: rows.at(y + this.scroller.scrollTop),
      column: columns.at(x + this.scroller.scrollLeft),
      onRowHeader: x < 0,
      onColumnHeader: y < 0,
      isBeyond: x + this.scroller.scrollLeft >= columns.extent || y + this.scroller.scrollTop >= rows.extent,
    };
  }

  /** How many rows are in view. */
  get page() {
    return Math.max(1, Math.floor((this.scroller.clientHeight - this.headerHeight) / this.grid.rows.sizes[0]) - 1);
  }

  /** The element of a cell, if it is in view. */
  cellAt(row, column) {
    const line = this.lines.items.find((item) => item.position === row);
    const place = this.grid.columns.placeOf(column);
    return line?.cells.items.find((cell) => cell.place === place)?.element;
  }

  remove() {
    this.resized.disconnect();
  }

  /** Row headers give way to the last column, which often is the total; their codes can be pointed at. */
  #fit() {
    const { clientWidth } = this.scroller;
    const least = Math.min(LEAST_HEADER, Math.round(MOST_SHARE * clientWidth));
    const beside = clientWidth - this.grid.columns.extent;
    const left = beside >= least ? beside : Math.max(least, Math.round(USUAL_SHARE * clientWidth));
    this.headerWidth = Math.min(this.fullHeaderWidth, left);
    this.stage.style.setProperty("--header-width", `${this.headerWidth}px`);
  }

  #markActive(cell) {
    if (this.activeCell !== cell) {
      this.activeCell?.removeAttribute("id");
      this.activeCell?.classList.remove("sheet-active");
      this.activeCell = cell;
    }
    if (cell) {
      cell.id = `${this.grid.id}-active`;
      cell.classList.add("sheet-active");
      this.scroller.setAttribute("aria-activedescendant", cell.id);
    } else {
      this.scroller.removeAttribute("aria-activedescendant");
    }
  }
}

function makeLine() {
  const made = element("div", "sheet-line", { role: "row" });
  const header = makeHeader("rowheader");
  header.element.setAttribute("aria-colindex", 1);
  const lane = element("div", "sheet-lane");
  made.append(lane, header.element);
  return { element: made, header, lane, cells: new Recycled(lane, makeCell) };
}

/** First place and number of lines that show between two pixels, with a margin. */
function range(axis, start, extent) {
  if (axis.count === 0) return [0, 0];
  const first = Math.max(0, axis.at(start) - MARGIN);
  const last = Math.min(axis.count - 1, axis.at(start + extent) + MARGIN);
  return [first, last - first + 1];
}

function nearest(scrolled, extent, axis, place) {
  if (axis.offsets[place] < scrolled) return axis.offsets[place];
  // A line that is larger than the view shows its beginning.
  const least = Math.min(axis.offsets[place], axis.offsets[place + 1] - extent);
  return Math.max(scrolled, least);
}

function titles({ rowTitle, columnTitle }) {
  const [row, column] = [element("span", "sheet-row-title"), element("span", "sheet-column-title")];
  row.textContent = rowTitle && `${rowTitle} ↓`;
  column.textContent = columnTitle && `${columnTitle} →`;
  return [row, column];
}
