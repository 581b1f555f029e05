/** A classification as a tree: selected, folded, moved by dragging or by keys; see code_tree.py. */

const STEPS = { ArrowDown: 1, ArrowUp: -1, Home: -Infinity, End: Infinity, PageDown: 10, PageUp: -10 };

export default {
  template: `
    <ul class="code-tree" role="tree" aria-multiselectable="true" :aria-label="name" @keydown="press">
      <li v-for="(node, at) in shown" :key="node.code" role="treeitem" class="code" :data-code="node.code"
          :aria-level="node.depth + 1" :aria-selected="chosen.has(node.code)"
          :aria-expanded="node.parts ? !folded.has(node.code) : null"
          :tabindex="node.code === current ? 0 : -1" :draggable="node.depth > 0"
          :class="{ 'code-target': node.code === target }"
          :style="{ paddingLeft: (8 + 20 * node.depth) + 'px' }"
          @click="click($event, at)" @focus="current = node.code"
          @dragstart="drag($event, node)" @dragend="target = null"
          @dragover="over($event, node)" @dragleave="target = null" @drop="drop($event, node)">
        <span class="code-fold" aria-hidden="true" @click.stop="fold(node)">
          {{ node.parts ? (folded.has(node.code) ? "▸" : "▾") : "" }}
        </span>
        <span class="code-name">{{ node.code }}</span>
        <span class="code-label">{{ node.label }}</span>
        <span v-if="node.parts" class="code-parts">{{ node.parts.toLocaleString("en") }}
          {{ node.parts === 1 ? "part" : "parts" }}</span>
      </li>
    </ul>`,
  props: { name: String, nodes: Array, selected: Array, unfolded: Number },
  emits: ["choose", "move", "act"],
  data() {
    return { folded: new Set(), chosen: new Set(this.selected), current: "", anchor: 0, dragged: [], target: null };
  },
  created() {
    this.current = this.nodes[0].code;
    this.folded = new Set(
      this.nodes.filter((node) => node.parts && node.depth >= this.unfolded).map((node) => node.code),
    );
  },
  computed: {
    shown() {
      let hidden = Infinity;
      return this.nodes.filter((node) => {
        if (node.depth > hidden) return false;
        hidden = node.parts && this.folded.has(node.code) ? node.depth : Infinity;
        return true;
      });
    },
  },
  watch: {
    selected(selected) {
      this.chosen = new Set(selected);
      const parents = [];
      for (const node of this.nodes) {
        parents.length = node.depth;
        if (this.chosen.has(node.code)) parents.forEach((code) => this.folded.delete(code));
        parents.push(node.code);
      }
      if (selected.length) this.current = selected[0];
      else if (!this.nodes.some((node) => node.code === this.current)) this.current = this.nodes[0].code;
      this.focus();
    },
  },
  methods: {
    focus() {
      this.$nextTick(() => this.$el.querySelector('[tabindex="0"]')?.focus());
    },
    fold(node) {
      if (!node.parts) return;
      if (!this.folded.delete(node.code)) this.folded.add(node.code);
    },
    choose(codes) {
      this.chosen = new Set(codes);
      this.$emit("choose", [...this.chosen]);
    },
    chooseTo(at) {
      const [first, last] = [Math.min(at, this.anchor), Math.max(at, this.anchor)];
      this.choose(this.shown.slice(first, last + 1).map((node) => node.code));
    },
    toggle(code) {
      const chosen = new Set(this.chosen);
      if (!chosen.delete(code)) chosen.add(code);
      this.choose(chosen);
    },
    click(event, at) {
      this.current = this.shown[at].code;
      if (event.shiftKey) return this.chooseTo(at);
      this.anchor = at;
      if (event.ctrlKey || event.metaKey) this.toggle(this.current);
      else this.choose([this.current]);
    },
    press(event) {
      const at = this.shown.findIndex((node) => node.code === this.current);
      const node = this.shown[at];
      if (event.altKey && event.shiftKey && ["ArrowRight", "ArrowLeft"].includes(event.key)) {
        this.$emit("act", event.key === "ArrowRight" ? "indent" : "outdent");
      } else if (event.key in STEPS) {
        const to = Math.max(0, Math.min(this.shown.length - 1, at + STEPS[event.key]));
        this.current = this.shown[to].code;
        this.focus();
        if (event.shiftKey) this.chooseTo(to);
        else if (!event.ctrlKey) {
          this.anchor = to;
          this.choose([this.current]);
        }
      } else if (event.key === "ArrowRight") {
        if (this.folded.has(node.code)) this.fold(node);
      } else if (event.key === "ArrowLeft") {
        if (node.parts && !this.folded.has(node.code)) this.fold(node);
      } else if (event.key === " ") {
        this.anchor = at;
        this.toggle(node.code);
      } else if (event.key === "F2") this.$emit("act", "rename");
      else if (event.key === "Delete") this.$emit("act", "ungroup");
      else if (event.key.toLowerCase() === "z" && (event.ctrlKey || event.metaKey)) {
        this.$emit("act", event.shiftKey ? "redo" : "undo");
      } else return;
      event.preventDefault();
    },
    drag(event, node) {
      this.dragged = this.chosen.has(node.code) ? [...this.chosen] : [node.code];
      event.dataTransfer.effectAllowed = "move";
      event.dataTransfer.setData("text/plain", this.dragged.join("\n"));
    },
    over(event, node) {
      if (!this.dragged.length || this.dragged.includes(node.code)) return;
      event.preventDefault();
      this.target = node.code;
    },
    drop(event, node) {
      event.preventDefault();
      event.stopPropagation();
      this.target = null;
      if (this.dragged.length) this.$emit("move", { codes: this.dragged, under: node.code });
      this.dragged = [];
    },
  },
};
