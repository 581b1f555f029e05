/**
 * What is selected: a block between two corners, and in it the active cell.
 *
 * Keep in positions of the content, so that folding and unfolding do not move it; asked for in places.
 */
export class Selection {
  constructor(grid) {
    this.grid = grid;
    this.active = { row: 0, column: 0 };
    this.anchor = this.active;
    this.head = this.active;
  }

  /** First and last place of the block on both axes. */
  get block() {
    const { rows, columns } = this.grid;
    const [top, bottom] = sorted(rows.placeOf(this.anchor.row), rows.placeOf(this.head.row));
    const [left, right] = sorted(columns.placeOf(this.anchor.column), columns.placeOf(this.head.column));
    return { top, bottom, left, right };
  }

  get isSingle() {
    const { top, bottom, left, right } = this.block;
    return top === bottom && left === right;
  }

  /** The places of the active cell. */
  get place() {
    return { row: this.grid.rows.placeOf(this.active.row), column: this.grid.columns.placeOf(this.active.column) };
  }

  /** Select one cell, or, extending, the block from where the selection began to it. */
  select(row, column, extend = false) {
    const cell = this.#cell(row, column);
    this.head = cell;
    if (!extend) this.active = this.anchor = cell;
    this.grid.selectionChanged();
  }

  /** Select a block; the active cell is where it begins, unless another one in it is named. */
  selectBlock(from, to, active = from) {
    this.active = this.#cell(active.row, active.column);
    this.anchor = this.#cell(from.row, from.column);
    this.head = this.#cell(to.row, to.column);
    this.grid.selectionChanged();
  }

  selectAll() {
    const { rows, columns } = this.grid;
    this.anchor = this.#cell(0, 0);
    this.head = this.#cell(rows.count - 1, columns.count - 1);
    this.grid.selectionChanged({ follow: false });
  }

  /** Move by some cells from the active cell, or, extending, from the far corner of the block. */
  move(rows, columns, extend = false) {
    const from = extend ? this.#placeOf(this.head) : this.place;
    this.select(from.row + rows, from.column + columns, extend);
  }

  /**
   * Move to where filled cells begin or end, as Ctrl with an arrow does in spreadsheets.
   */
  jump(rowStep, columnStep, extend = false) {
    const { rows, columns, content } = this.grid;
    let { row, column } = extend ? this.#placeOf(this.head) : this.place;
    const filled = (r, c) => content.text(rows.shown[r], columns.shown[c]) !== "";
    const inside = (r, c) => r >= 0 && c >= 0 && r < rows.count && c < columns.count;
    const next = () => [row + rowStep, column + columnStep];
    const runs = filled(row, column) && inside(...next()) && filled(...next());
    // Inside a run: to its last cell. At an edge: over the gap to the next filled cell.
    while (inside(...next()) && (!runs || filled(...next()))) {
      [row, column] = next();
      if (!runs && filled(row, column)) break;
    }
    this.select(row, column, extend);
  }

  /**
   * Step to the next cell in reading order; in a block, around it. Returns false at the end of the sheet.
   */
  step(rowStep, columnStep) {
    if (this.isSingle) {
      const { row, column } = this.place;
      const { rows, columns } = this.grid;
      const inside = (place, count) => place >= 0 && place < count;
      if (!inside(row + rowStep, rows.count) || !inside(column + columnStep, columns.count)) return false;
      this.move(rowStep, columnStep);
      return true;
    }
    const { top, bottom, left, right } = this.block;
    const height = bottom - top + 1;
    const width = right - left + 1;
    const row = this.place.row - top;
    const column = this.place.column - left;
    const count = height * width;
    const along = columnStep ? row * width + column + columnStep : column * height + row + rowStep;
    const index = (along + count) % count;
    this.active = columnStep
      ? this.#cell(top + Math.floor(index / width), left + (index % width))
      : this.#cell(top + (index % height), left + Math.floor(index / height));
    this.grid.selectionChanged();
    return true;
  }

  /** After folding: whatever is folded away is replaced by the line that it is folded into. */
  settle() {
    const settled = (cell) => {
      const place = this.#placeOf(cell);
      return this.#cell(place.row, place.column);
    };
    [this.active, this.anchor, this.head] = [this.active, this.anchor, this.head].map(settled);
  }

  /** Into a sheet that may have fewer lines. */
  clamp(rowCount, columnCount) {
    const inside = ({ row, column }) => ({ row: Math.min(row, rowCount - 1), column: Math.min(column, columnCount - 1) });
    [this.active, this.anchor, this.head] = [this.active, this.anchor, this.head].map(inside);
  }

  #placeOf({ row, column }) {
    return { row: this.grid.rows.placeOf(row), column: this.grid.columns.placeOf(column) };
  }

  #cell(row, column) {
    const { rows, columns } = this.grid;
    const inside = (place, count) => Math.max(0, Math.min(count - 1, place));
    return { row: rows.shown[inside(row, rows.count)], column: columns.shown[inside(column, columns.count)] };
  }
}

function sorted(one, other) {
  return one <= other ? [one, other] : [other, one];
}
