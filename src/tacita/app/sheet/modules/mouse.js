/** What the mouse does: select cells, lines and blocks, scroll while dragging, fold, and resize columns. */

export class Mouse {
  constructor(grid) {
    this.grid = grid;
    const { scroller } = grid.viewport;
    scroller.addEventListener("pointerdown", (event) => this.#press(event));
    scroller.addEventListener("dblclick", (event) => this.#open(event));
    // A finger scrolls; it selects by a tap only.
    scroller.addEventListener("click", (event) => {
      if (!grid.content) return;
      const at = grid.viewport.locate(event.clientX, event.clientY);
      if (event.pointerType === "touch") this.#select(at);
      if (grid.explains && this.#isOnCell(event, at)) grid.explain(false);
    });
  }

  #press(event) {
    const { grid } = this;
    if (event.button !== 0 || event.pointerType === "touch" || !grid.content) return;
    if (event.target === grid.editor.field || this.#isOnScrollBar(event)) return;
    // The press would move the focus to nothing: rows are no place for it.
    event.preventDefault();
    grid.focus();
    grid.status.tell("");
    const header = event.target.closest(".sheet-header");
    const at = grid.viewport.locate(event.clientX, event.clientY);
    if (event.target.closest(".sheet-fold")) {
      const [axis, place] = header.getAttribute("role") === "rowheader" ? ["rows", at.row] : ["columns", at.column];
      const position = grid[axis].shown[place];
      grid.fold(axis, position, !grid[axis].folded[position]);
    } else if (event.target.closest(".sheet-edge")) {
      this.#resize(event, this.#columnOf(header));
    } else if (!at.isBeyond || at.onRowHeader || at.onColumnHeader) {
      this.#select(at, event.shiftKey);
      this.#drag(event);
    }
  }

  #select(at, extend = false) {
    const { rows, columns, selection } = this.grid;
    const end = { row: rows.count - 1, column: columns.count - 1 };
    if (at.onRowHeader && at.onColumnHeader) selection.selectAll();
    else if (at.onRowHeader) {
      const from = extend ? rows.placeOf(selection.anchor.row) : at.row;
      selection.selectBlock({ row: from, column: 0 }, { row: at.row, column: end.column });
    } else if (at.onColumnHeader) {
      const from = extend ? columns.placeOf(selection.anchor.column) : at.column;
      selection.selectBlock({ row: 0, column: from }, { row: end.row, column: at.column });
    } else selection.select(at.row, at.column, extend);
  }

  /** Follow the pointer until it is let go; beyond the edges the sheet scrolls on. */
  #drag(start) {
    const { grid } = this;
    const { scroller } = grid.viewport;
    const began = grid.viewport.locate(start.clientX, start.clientY);
    let point = start;
    let frame = 0;
    const follow = () => {
      const bounds = scroller.getBoundingClientRect();
      const beyondX = beyond(point.clientX, bounds.left + grid.viewport.headerWidth, bounds.left + scroller.clientWidth);
      const beyondY = beyond(point.clientY, bounds.top + grid.viewport.headerHeight, bounds.top + scroller.clientHeight);
      if (!began.onRowHeader) scroller.scrollLeft += beyondX / 2;
      if (!began.onColumnHeader) scroller.scrollTop += beyondY / 2;
      const at = grid.viewport.locate(point.clientX - beyondX, point.clientY - beyondY);
      this.#select({ ...at, onRowHeader: began.onRowHeader, onColumnHeader: began.onColumnHeader }, true);
      frame = beyondX || beyondY ? requestAnimationFrame(follow) : 0;
    };
    const move = (event) => {
      point = event;
      if (!frame) frame = requestAnimationFrame(follow);
    };
    track(scroller, start, move, () => cancelAnimationFrame(frame));
  }

  #resize(start, column) {
    const { grid } = this;
    const before = grid.columns.sizes[column];
    track(grid.viewport.scroller, start, (event) => grid.resizeColumn(column, before + event.clientX - start.clientX));
  }

  #open(event) {
    const { grid } = this;
    if (!grid.content) return;
    // The press was captured by the scroll area, so the event does not know what lies below the pointer.
    const target = document.elementFromPoint(event.clientX, event.clientY);
    const header = target.closest(".sheet-header");
    if (target.closest(".sheet-edge")) grid.fitColumn(this.#columnOf(header));
    else if (target.closest(".sheet-cell")) grid.editor.open();
  }

  /** Whether a click is on the one cell that is selected, and not the end of a drag. */
  #isOnCell(event, at) {
    const { row, column } = this.grid.selection.place;
    const isInside = !at.isBeyond && !at.onRowHeader && !at.onColumnHeader && !this.#isOnScrollBar(event);
    return isInside && this.grid.selection.isSingle && at.row === row && at.column === column;
  }

  #columnOf(header) {
    return Number(header.getAttribute("aria-colindex")) - 2;
  }

  #isOnScrollBar(event) {
    const { scroller } = this.grid.viewport;
    const bounds = scroller.getBoundingClientRect();
    return event.clientX - bounds.left >= scroller.clientWidth || event.clientY - bounds.top >= scroller.clientHeight;
  }
}

/** Pixels by which a coordinate lies outside an interval, with sign. */
function beyond(coordinate, low, high) {
  return Math.min(0, coordinate - low) + Math.max(0, coordinate - high);
}

function track(target, start, move, end = () => {}) {
  target.setPointerCapture(start.pointerId);
  const stop = () => {
    target.removeEventListener("pointermove", move);
    end();
  };
  target.addEventListener("pointermove", move);
  target.addEventListener("lostpointercapture", stop, { once: true });
}
