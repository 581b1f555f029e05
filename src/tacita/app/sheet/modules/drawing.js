/** How one cell and one header are put into the document. Elements are made once and bound to many lines. */

import { COLUMN_STEP, ROW_STEP } from "./measures.js";

export function element(tag, className, attributes = {}) {
  const made = document.createElement(tag);
  made.className = className;
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  return made;
}

export function makeCell() {
  const made = element("div", "sheet-cell", { role: "gridcell" });
  made.append("");
  return { element: made };
}

/** Header and document index of a line count from 1 and leave the first to the headers themselves. */
export function documentIndex(position) {
  return position + 2;
}

/** Only what differs from what the element shows already is written: each write costs style and layout. */
export function drawCell(cell, grid, row, column) {
  const { content, columns, editable } = grid;
  const shown = cell.element;
  const text = content.shown(row, column);
  const look = grid.looks[content.flag(row, column)];
  const left = columns.offsets[columns.places[column]];
  const width = columns.sizes[column];
  const isReadOnly = !editable || content.isTotal(row, column);
  if (cell.text !== text) shown.firstChild.nodeValue = text;
  if (cell.left !== left) shown.style.left = `${left}px`;
  if (cell.width !== width) shown.style.width = `${width}px`;
  if (cell.column !== column) shown.setAttribute("aria-colindex", documentIndex(column));
  if (cell.isReadOnly !== isReadOnly) shown.setAttribute("aria-readonly", isReadOnly);
  if (cell.look !== look) {
    shown.className = look.className;
    // The sign is for the eye, drawn by the style sheet; the name says the same in words.
    setOrRemove(shown, "data-signs", look.signs);
  }
  if (look.meaning || cell.look?.meaning) {
    setOrRemove(shown, "aria-label", look.meaning && [text, look.meaning].filter(Boolean).join(", "));
  }
  Object.assign(cell, { text, left, width, column, isReadOnly, look });
}

function setOrRemove(shown, name, value) {
  if (value) shown.setAttribute(name, value);
  else shown.removeAttribute(name);
}

/** A header with a button to fold, used for rows and for columns. */
export function makeHeader(role) {
  const made = element("div", "sheet-header", { role });
  const button = element("button", "sheet-fold", { type: "button", tabindex: -1 });
  const code = element("span", "sheet-code");
  const label = element("span", "sheet-label");
  made.append(button, code, " ", label);
  if (role === "columnheader") made.append(element("span", "sheet-edge"));
  return { element: made, button, code, label };
}

function drawHeader({ element: header, button, code, label }, axis, position) {
  const name = axis.nameOf(position);
  code.textContent = axis.codes[position];
  label.textContent = axis.labels[position] ?? "";
  label.hidden = !label.textContent;
  header.title = name;
  header.classList.toggle("sheet-parent", axis.hasChildren[position] === 1);
  if (axis.hasChildren[position]) {
    const folded = axis.folded[position] === 1;
    button.hidden = false;
    header.classList.toggle("sheet-behind", axis.isBehindChildren(position));
    button.setAttribute("aria-label", `${folded ? "Unfold" : "Fold"} ${axis.codes[position]}`);
    header.setAttribute("aria-expanded", !folded);
  } else {
    button.hidden = true;
    header.removeAttribute("aria-expanded");
  }
}

export function drawRowHeader(header, axis, position) {
  drawHeader(header, axis, position);
  header.element.style.paddingLeft = `${4 + axis.depths[position] * ROW_STEP}px`;
}

export function drawColumnHeader(header, axis, position, height) {
  drawHeader(header, axis, position);
  const { style } = header.element;
  style.left = `${axis.offsets[axis.places[position]]}px`;
  style.width = `${axis.sizes[position]}px`;
  const step = Math.min(axis.depths[position] * COLUMN_STEP, height - 30);
  style.top = `${step}px`;
  style.height = `${height - step - 1}px`;
  header.element.setAttribute("aria-colindex", documentIndex(position));
}
