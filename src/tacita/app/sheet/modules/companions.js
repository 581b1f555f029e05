/** Sheets of one group on a page move together: scrolling, folding and widths of one are those of all. */

const groups = new Map();

export class Companions {
  constructor(grid, group) {
    this.grid = grid;
    this.members = group ? (groups.get(group) ?? groups.set(group, new Set()).get(group)) : new Set();
    this.members.add(grid);
    grid.viewport.scroller.addEventListener("scroll", () => this.#scrolled());
  }

  fold(axis, { folded }) {
    this.#others((other) => {
      if (other[axis].folded.length !== folded.length) return;
      other[axis].setFolds(folded);
      other.selection.settle();
      other.viewport.draw(true);
    });
  }

  resize(column, width) {
    this.#others((other) => {
      if (column >= other.columns.codes.length) return;
      other.columns.resize(column, width);
      other.viewport.draw(true);
    });
  }

  leave() {
    this.members.delete(this.grid);
  }

  #scrolled() {
    const { top, left } = this.grid.viewport;
    this.#others(({ viewport }) => {
      // Only if it differs: an equal one would come back as another scroll, without end.
      if (Math.abs(viewport.top - top) > 1) viewport.scroller.scrollTop = top;
      if (Math.abs(viewport.left - left) > 1) viewport.scroller.scrollLeft = left;
    });
  }

  #others(act) {
    for (const other of this.members) if (other !== this.grid && other.content) act(other);
  }
}
