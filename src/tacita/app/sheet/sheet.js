/** The sheet as a component of the page: properties in, events out. All work is in the modules. */

import { Grid } from "tacita-sheet/grid.js";

export default {
  template: '<div class="sheet-room"></div>',
  props: {
    source: String,
    version: Number,
    editable: Boolean,
    explains: Boolean,
    name: String,
    group: String,
    looks: Array,
  },
  // Declared, so that the browser's own event "select" of a text field is not taken for ours.
  emits: ["edit", "select", "undo", "redo", "seek", "explain"],
  mounted() {
    this.grid = new Grid(this.$el, {
      editable: this.editable,
      explains: this.explains,
      name: this.name,
      group: this.group,
      looks: this.looks,
      emit: (event, ...message) => this.$emit(event, ...message),
    });
    this.grid.load(this.source, this.version);
  },
  unmounted() {
    this.grid.remove();
  },
  watch: {
    version(version) {
      this.grid.load(this.source, version);
    },
    editable(editable) {
      this.grid.setEditable(editable);
    },
  },
  methods: {
    patch(changes) {
      this.grid.patch(changes);
    },
    fold(axis, depth) {
      this.grid.foldTo(axis, depth);
    },
    unfold(axis) {
      this.grid.foldTo(axis, Infinity);
    },
    go(row, column, version) {
      this.grid.go(row, column, version);
    },
    tell(message) {
      this.grid.status.tell(message);
    },
  },
};
