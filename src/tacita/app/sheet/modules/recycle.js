/**
 * A list of items that follows a window over lines: what leaves on one side comes back on the other.
 *
 * Items stay in the order of the lines, in the document too, so that screen readers meet them in order.
 */
export class Recycled {
  constructor(parent, make) {
    this.parent = parent;
    this.make = make;
    this.items = [];
    this.first = 0;
  }

  /** Let the items stand for the places first, first + 1, ...; `bind(item, place)` draws those that changed. */
  cover(first, count, force, bind) {
    const shift = first - this.first;
    if (Math.abs(shift) < this.items.length) this.#turn(shift);
    this.first = first;
    while (this.items.length > count) this.items.pop().element.remove();
    while (this.items.length < count) {
      const item = this.make();
      item.place = -1;
      this.items.push(item);
      this.parent.append(item.element);
    }
    this.items.forEach((item, index) => {
      const place = first + index;
      if (item.place === place && !force) return;
      item.place = place;
      bind(item, place);
    });
  }

  #turn(shift) {
    if (shift > 0) {
      const moved = this.items.splice(0, shift);
      this.items.push(...moved);
      this.parent.append(...moved.map((item) => item.element));
    } else if (shift < 0) {
      const moved = this.items.splice(shift);
      this.items.unshift(...moved);
      this.parent.prepend(...moved.map((item) => item.element));
    }
  }
}
