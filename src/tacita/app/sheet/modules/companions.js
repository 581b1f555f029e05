/** Sheets of one group on a page move together: what is in view, selected, folded or widened in one is so in all. */

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

  /** The same block in the others, which say nothing of it to the server: it has been told already. */
  select({ active, anchor, head }) {
    const { rows, columns } = this.grid;
    this.#others((other) => {
      if (other.rows.codes.length !== rows.codes.length || other.columns.codes.length !== columns.codes.length) return;
      Object.assign(other.selection, { active, anchor, head });
      other.viewport.drawSelection();
      other.status.describe();
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
