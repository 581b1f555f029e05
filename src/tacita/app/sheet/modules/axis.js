/**
 * One axis of the sheet: its lines, which of them are folded away, and where each lies in pixels.
 *
 * A *position* counts the lines of the content and never changes; a *place* counts the lines that are shown.
 */
export class Axis {
  constructor({ codes, labels, depths, parents }, sizes) {
    this.codes = codes;
    this.labels = labels;
    this.depths = depths;
    this.parents = parents;
    this.sizes = sizes;
    this.chosen = new Set();
    this.folded = new Uint8Array(codes.length);
    this.hasChildren = new Uint8Array(codes.length);
    for (const parent of parents) if (parent >= 0) this.hasChildren[parent] = 1;
    this.deepest = depths.reduce((most, depth) => Math.max(most, depth), 0);
    this.#arrange();
  }

  /** The code of a line with its label, if it has one. */
  nameOf(position) {
    return [this.codes[position], this.labels[position]].filter(Boolean).join(" ");
  }

  /** How many lines are shown. */
  get count() {
    return this.shown.length;
  }

  /** Pixels that the shown lines take. */
  get extent() {
    return this.offsets[this.count];
  }

  /** The place of the line that covers a pixel, or of the nearest one. */
  at(pixel) {
    let low = 0;
    let high = this.count - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.offsets[middle] <= pixel) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  /** The place of a position; if it is folded away, the place of the line that it is folded into. */
  placeOf(position) {
    while (this.places[position] < 0) position = this.parents[position];
    return this.places[position];
  }

  isShown(position) {
    return this.places[position] >= 0;
  }

  /** Whether the parent stands behind its children, as totals do in printed tables. */
  isBehindChildren(position) {
    return position > 0 && this.parents[position - 1] === position;
  }

  fold(position, folded) {
    if (!this.hasChildren[position]) return;
    this.folded[position] = folded ? 1 : 0;
    this.#arrange();
  }

  /** Fold what has children at this depth or deeper, unfold the rest. */
  foldTo(depth) {
    this.setFolds(this.depths.map((own, position) => this.hasChildren[position] && own >= depth));
  }

  setFolds(folded) {
    this.folded = Uint8Array.from(folded);
    this.#arrange();
  }

  /** Unfold whatever hides a line. */
  reveal(position) {
    if (this.isShown(position)) return;
    for (let line = this.parents[position]; line >= 0; line = this.parents[line]) this.folded[line] = 0;
    this.#arrange();
  }

  /** A size that the user has chosen. */
  resize(position, size) {
    this.sizes[position] = size;
    this.chosen.add(position);
    this.#arrange();
  }

  /** Folds and chosen sizes of another axis, for lines with the same code. */
  takeOver(other) {
    const known = new Map(other.codes.map((code, position) => [code, position]));
    this.codes.forEach((code, position) => {
      const before = known.get(code);
      if (before === undefined) return;
      this.folded[position] = other.folded[before] && this.hasChildren[position];
      if (!other.chosen.has(before)) return;
      this.sizes[position] = other.sizes[before];
      this.chosen.add(position);
    });
    this.#arrange();
  }

  /** Maximal runs [first, last] of the positions at these places. */
  runs(first, last) {
    const runs = [];
    for (let place = first; place <= last; place++) {
      const position = this.shown[place];
      const run = runs.at(-1);
      if (run && run[1] === position - 1) run[1] = position;
      else runs.push([position, position]);
    }
    return runs;
  }

  #arrange() {
    const hidden = new Int8Array(this.codes.length).fill(-1);
    const isHidden = (position) => {
      if (hidden[position] < 0) {
        const parent = this.parents[position];
        hidden[position] = parent >= 0 && (this.folded[parent] || isHidden(parent)) ? 1 : 0;
      }
      return hidden[position];
    };
    this.shown = [];
    this.places = new Int32Array(this.codes.length).fill(-1);
    const offsets = [0];
    for (let position = 0; position < this.codes.length; position++) {
      if (isHidden(position)) continue;
      this.places[position] = this.shown.length;
      this.shown.push(position);
      offsets.push(offsets.at(-1) + this.sizes[position]);
    }
    this.offsets = Float64Array.from(offsets);
  }
}
