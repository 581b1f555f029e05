/**
 * What the page offers to those who see little, or nothing: contrast, names, headings and landmarks.
 *
 * Evaluated in the page by tests; every function returns complaints, and none where all is well.
 */
() => {
  const TEXT = 4.5;
  const LARGE_TEXT = 3;
  const GRAPHIC = 3;
  const DISABLED = ":disabled, [aria-disabled=true], .disabled, [disabled]";

  // ------------------------------------------------------------------ colours

  const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const known = new Map();

  /** Red, green, blue and opacity, each from 0 to 1, however the style sheet spells a colour. */
  function parse(colour) {
    if (!known.has(colour)) {
      canvas.clearRect(0, 0, 1, 1);
      canvas.fillStyle = colour;
      canvas.fillRect(0, 0, 1, 1);
      known.set(colour, [...canvas.getImageData(0, 0, 1, 1).data].map((part) => part / 255));
    }
    return known.get(colour);
  }

  /** A colour that lies over an opaque ground. */
  function over([r, g, b, opacity], ground) {
    return [r, g, b].map((part, k) => part * opacity + ground[k] * (1 - opacity));
  }

  function luminance(colour) {
    const [r, g, b] = colour.map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  }

  function ratio(one, other) {
    const [low, high] = [luminance(one), luminance(other)].sort((a, b) => a - b);
    return (high + 0.05) / (low + 0.05);
  }

  function ancestors(element) {
    const chain = [];
    for (let at = element; at; at = at.parentElement) chain.unshift(at);
    return chain;
  }

  /** All grounds that an element may lie on: more than one where a gradient has several colours. */
  function grounds(element) {
    let found = [[1, 1, 1]];
    for (const at of ancestors(element)) {
      const style = getComputedStyle(at);
      found = found.map((ground) => over(parse(style.backgroundColor), ground));
      const stops = style.backgroundImage.match(/(?:rgba?|color|oklab|oklch|color-mix)\([^()]*\)/g) ?? [];
      if (stops.length) found = found.flatMap((ground) => stops.map((stop) => over(parse(stop), ground)));
    }
    return found;
  }

  function opacity(element) {
    return ancestors(element).reduce((product, at) => product * Number(getComputedStyle(at).opacity), 1);
  }

  function weakest(colour, element) {
    const [r, g, b, own] = parse(colour);
    const seen = own * opacity(element);
    return Math.min(...grounds(element).map((ground) => ratio(over([r, g, b, seen], ground), ground)));
  }

  // ------------------------------------------------------------------ elements

  function isSeen(element) {
    if (!element.checkVisibility({ visibilityProperty: true, opacityProperty: true, contentVisibilityAuto: true })) return false;
    const { width, height } = element.getBoundingClientRect();
    return width > 1 && height > 1;
  }

  function called(element) {
    const words = (element.innerText || element.textContent || element.getAttribute("aria-label") || "").trim();
    const test = element.closest("[data-testid]")?.dataset.testid ?? "";
    const kind = `${element.tagName.toLowerCase()}.${String(element.getAttribute("class") ?? "").split(" ").join(".")}`;
    return `${kind} in '${test}': '${words.slice(0, 40)}'`;
  }

  function ownText(element) {
    return [...element.childNodes].some((node) => node.nodeType === Node.TEXT_NODE && node.textContent.trim());
  }

  function needed(element, style) {
    if (element.closest("[aria-hidden=true], .q-icon")) return GRAPHIC;
    const size = parseFloat(style.fontSize);
    return size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700) ? LARGE_TEXT : TEXT;
  }

  /** Text that stands out too little from what it is written on. */
  function contrast() {
    const complaints = new Set();
    const complain = (element, what, found, least) => {
      if (found < least - 0.005) complaints.add(`${found.toFixed(2)} instead of ${least}: ${what} of ${called(element)}`);
    };
    for (const element of document.body.querySelectorAll("*")) {
      if (!isSeen(element) || element.closest(DISABLED) || element.closest("style, script, title")) continue;
      const style = getComputedStyle(element);
      const least = needed(element, style);
      const isField = element.matches("input:not([type=file], [type=checkbox], [type=radio]), textarea");
      if (ownText(element) || (isField && element.value)) {
        const colour = element instanceof SVGElement ? style.fill : style.color;
        complain(element, "text", weakest(colour, element), least);
      }
      if (isField && element.placeholder && !element.value) {
        const hint = getComputedStyle(element, "::placeholder");
        if (Number(hint.opacity) > 0.02) complain(element, "placeholder", weakest(hint.color, element), least);
      }
      for (const part of ["::before", "::after"]) {
        const drawn = getComputedStyle(element, part);
        if (/^".*\S.*"$/.test(drawn.content) && drawn.display !== "none" && Number(drawn.opacity) > 0.02) {
          complain(element, part, weakest(drawn.color, element), GRAPHIC);
        }
      }
    }
    return [...complaints];
  }

  /** Edges of fields and lines of charts that stand out too little. */
  function edges() {
    const complaints = new Set();
    const complain = (element, colour, around) => {
      const found = weakest(colour, around);
      if (found < GRAPHIC - 0.005) complaints.add(`${found.toFixed(2)} instead of ${GRAPHIC}: edge of ${called(element)}`);
    };
    for (const field of document.querySelectorAll(".q-field--outlined .q-field__control, textarea:not(.q-field__native)")) {
      if (!isSeen(field) || field.closest(DISABLED) || field.closest(".q-field--disabled")) continue;
      const style = field.matches("textarea") ? getComputedStyle(field) : getComputedStyle(field, "::before");
      complain(field, style.borderTopColor, field.parentElement);
    }
    for (const path of document.querySelectorAll("[data-testid$=-chart] path[stroke-width='2'], [data-testid=plot] path[stroke-dasharray]")) {
      if (isSeen(path.closest("svg"))) complain(path, getComputedStyle(path).stroke, path.closest("svg"));
    }
    return [...complaints];
  }

  // ------------------------------------------------------------------ names and order

  const CONTROLS =
    "a[href], button, input:not([type=hidden]), select, textarea, summary, dialog, [tabindex], " +
    "[role=button], [role=checkbox], [role=switch], [role=radio], [role=combobox], [role=listbox], [role=tab], " +
    "[role=menu], [role=menuitem], [role=grid], [role=dialog], [role=img], [role=progressbar], [role=slider], [role=group]";

  function textOf(ids) {
    return ids.split(/\s+/).map((id) => document.getElementById(id)?.textContent ?? "").join(" ").trim();
  }

  /** What a screen reader calls an element, as far as this page has need of the rules. */
  function name(element) {
    const labelled = element.getAttribute("aria-labelledby");
    if (labelled && textOf(labelled)) return textOf(labelled);
    const own = element.getAttribute("aria-label")?.trim();
    if (own) return own;
    const label = [...(element.labels ?? [])].map((one) => one.textContent.trim()).join(" ").trim();
    if (label) return label;
    if (!element.matches("input, select, textarea, dialog, [role=grid], [role=dialog], [role=group], [role=img]")) {
      const words = [...element.querySelectorAll(".q-icon, [aria-hidden=true]")].reduce(
        (text, icon) => text.replace(icon.textContent, ""), element.textContent);
      if (words.trim()) return words.trim();
    }
    return element.getAttribute("title")?.trim() ?? "";
  }

  function isReachable(element) {
    return isSeen(element) && !element.closest("[aria-hidden=true]");
  }

  function names() {
    const complaints = [];
    for (const element of document.body.querySelectorAll(CONTROLS)) {
      if (element.matches("[tabindex='-1']") && !element.matches("button, input, [role]")) continue;
      if (isReachable(element) && !name(element)) complaints.push(`no name: ${called(element)}`);
    }
    return complaints;
  }

  function twice() {
    const seen = new Map();
    for (const { id } of document.querySelectorAll("[id]")) seen.set(id, (seen.get(id) ?? 0) + 1);
    return [...seen].filter(([, times]) => times > 1).map(([id]) => `id '${id}' is there more than once`);
  }

  function headings() {
    const complaints = [];
    let before = 0;
    // While a dialog is open, nothing else is there for a screen reader.
    const place = document.querySelector("dialog[open]") ?? document;
    const all = [...place.querySelectorAll("h1, h2, h3, h4, [role=heading]")].filter(isReachable);
    for (const element of all) {
      const level = Number(element.getAttribute("aria-level") ?? element.tagName[1]);
      if (level > before + 1) complaints.push(`level ${level} after ${before}: ${called(element)}`);
      before = level;
    }
    if (all.filter((element) => (element.getAttribute("aria-level") ?? element.tagName[1]) === "1").length !== 1) {
      complaints.push("not exactly one heading of the first level");
    }
    return complaints;
  }

  function landmarks() {
    const complaints = [];
    for (const [what, selector] of [["header", "header, [role=banner]"], ["nav", "nav"], ["main", "main, [role=main]"]]) {
      const count = [...document.querySelectorAll(selector)].filter(isReachable).length;
      if (count !== 1) complaints.push(`${count} landmarks ${what}`);
    }
    if (!document.documentElement.lang) complaints.push("the page does not tell its language");
    return complaints;
  }

  /** References of one element to another that is not there. */
  function references() {
    const complaints = [];
    for (const kind of ["aria-labelledby", "aria-describedby", "aria-activedescendant"]) {
      for (const element of document.querySelectorAll(`[${kind}]`)) {
        for (const id of element.getAttribute(kind).split(/\s+/)) {
          if (id && isReachable(element) && !document.getElementById(id)) complaints.push(`${kind} ${id} of ${called(element)} is nowhere`);
        }
      }
    }
    return complaints;
  }

  // ------------------------------------------------------------------ room

  /** What reaches beyond the page or cannot be scrolled by keyboard, and words that are cut off and not to be had
   * otherwise. */
  function room() {
    const complaints = [];
    const page = document.documentElement;
    if (page.scrollWidth > page.clientWidth) complaints.push(`the page is ${page.scrollWidth - page.clientWidth} pixels too wide`);
    for (const element of document.body.querySelectorAll("div, section, pre")) {
      const scrolls = ["auto", "scroll"].includes(getComputedStyle(element).overflowX);
      if (scrolls && isSeen(element) && element.scrollWidth > element.clientWidth + 1 && element.tabIndex < 0 && !element.closest(".sheet")) {
        complaints.push(`scrolls sideways, but not by keyboard: ${called(element)}`);
      }
    }
    for (const element of document.body.querySelectorAll("*")) {
      if (!isSeen(element) || !ownText(element) || element.closest(".sheet, svg, .q-icon")) continue;
      const style = getComputedStyle(element);
      const isCut = ["hidden", "clip"].includes(style.overflowX) && element.scrollWidth > element.clientWidth + 1;
      if (isCut && !element.closest("[title]")) complaints.push(`cut off: ${called(element)}`);
    }
    return complaints;
  }

  // ------------------------------------------------------------------ focus

  /** Whether one sees that an element has the focus: an outline, or a border, of enough contrast. */
  function focus() {
    const element = document.activeElement;
    const shown = [element, ...["::before", "::after"].map((part) => [element, part])];
    const field = element.closest(".q-field__control");
    if (field) shown.push([field, "::before"], [field, "::after"], field);
    for (const one of shown) {
      const [at, part] = Array.isArray(one) ? one : [one, null];
      const style = getComputedStyle(at, part);
      const around = part ? at : at.parentElement ?? at;
      if (style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 1.5) {
        if (weakest(style.outlineColor, around) >= GRAPHIC) return "";
      }
      if (field && part && parseFloat(style.borderTopWidth) >= 1.5 && weakest(style.borderTopColor, field) >= GRAPHIC) return "";
    }
    return `the focus is not seen: ${called(element)}`;
  }

  /** The page reacts to the focus, or to the mode, and draws it, a moment later. */
  function drawn() {
    return new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
  }

  async function turned(mode) {
    while (!document.body.classList.contains(`body--${mode}`)) await drawn();
    await drawn();
  }

  async function all(mode) {
    await turned(mode);
    return [contrast, edges, names, twice, headings, landmarks, references, room].flatMap((check) => check());
  }

  /** What has the focus: its role, what is wrong with how it shows that, and its name. */
  async function stop(mode) {
    await turned(mode);
    const element = document.activeElement;
    if (element === document.body) return ["body", "", ""];
    (window.stops ??= []).push(element);
    return [element.role ?? element.tagName.toLowerCase(), focus(), name(element)];
  }

  /** What is wrong with how the stops so far show that they have the focus, in another mode. */
  async function again(mode) {
    await turned(mode);
    const complaints = [];
    for (const element of window.stops) {
      element.focus();
      await drawn();
      complaints.push(focus());
    }
    return complaints.filter(Boolean);
  }

  return { all, stop, again };
}
