/* Ways to a field: what is folded around it opens, it is scrolled to, and it has the focus. */
(() => {
  const PATIENCE = 10000;
  /** Longer than a fold takes to open. */
  const UNFOLDING = 350;
  const wait = (time) => new Promise((resolve) => setTimeout(resolve, time));

  async function find(name) {
    const until = Date.now() + PATIENCE;
    for (;;) {
      const field = document.querySelector(`[data-testid="${CSS.escape(name)}"]`);
      if (field || Date.now() > until) return field;
      await wait(50);
    }
  }

  async function unfold(field) {
    const folds = [];
    for (let fold = field; (fold = fold.parentElement?.closest(".q-expansion-item--collapsed")); ) folds.push(fold);
    for (const fold of folds.reverse()) fold.querySelector(".q-item").click();
    // The field itself may be a fold: its head is what takes the focus.
    if (folds.length) await wait(UNFOLDING);
  }

  async function leadTo(name, path = "") {
    if (path && path !== location.pathname) {
      location.assign(name ? `${path}#${encodeURIComponent(name)}` : path);
      return null;
    }
    // What was sent together with this call is on the page a moment later.
    await wait(30);
    const field = name && (await find(name));
    if (!field) return null;
    await unfold(field);
    const target = field.matches("input, textarea, button, [tabindex]")
      ? field
      : (field.querySelector("input, textarea, button, [tabindex]") ?? field);
    const seen = field.closest(".q-field") ?? field;
    seen.scrollIntoView({ block: "center" });
    target.focus({ preventScroll: true });
    return target;
  }

  /** Scroll as little as needed to show a part of the page; the focus stays where it is. */
  async function bringIntoView(name) {
    await wait(30);
    (await find(name))?.scrollIntoView({ block: "nearest" });
  }

  async function leadToLine(name, text, line, words) {
    const field = await leadTo(name);
    if (!field) return;
    if (!field.value) field.value = text;
    const before = field.value.split("\n").slice(0, line);
    const end = before.join("\n").length;
    const begin = end - before.at(-1).length;
    const word = words.find((each) => before.at(-1).includes(each));
    const at = word === undefined ? 0 : before.at(-1).indexOf(word);
    field.setSelectionRange(begin + at, word === undefined ? end : begin + at + word.length);
    const height = parseFloat(getComputedStyle(field).lineHeight);
    field.scrollTop = Math.max(0, (line - 2) * height);
  }

  window.leadTo = leadTo;
  window.leadToLine = leadToLine;
  window.bringIntoView = bringIntoView;
  if (location.hash.length > 1) leadTo(decodeURIComponent(location.hash.slice(1)));
})();
