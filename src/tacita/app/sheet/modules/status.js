/**
 * The line below the sheet: where one is, what is selected, and what has just happened.
 *
 * The first part is not live: a screen reader reads the active cell by itself and need not hear it twice.
 */

import { grouped, plain } from "./content.js";
import { element } from "./drawing.js";
import { KEYS } from "./keys.js";

const NUMBER = /^-?\d+(\.\d+)?$/;

export class Status {
  constructor(grid, parent) {
    this.grid = grid;
    const line = element("div", "sheet-status");
    this.place = element("span", "sheet-place");
    this.message = element("span", "sheet-message", { role: "status", "aria-live": "polite" });
    this.summary = element("span", "sheet-summary", { role: "status", "aria-live": "polite" });
    line.append(this.place, this.message, this.summary, keyHelp());
    parent.append(line);
  }

  /** Say what happened; it stays until the next key or press. */
  tell(message) {
    this.message.textContent = message;
  }

  /** Name the cell in focus, and count and add the cells of a block. */
  describe() {
    const { grid } = this;
    const { row, column } = grid.selection.active;
    const look = grid.looks[grid.content.flag(row, column)];
    const text = grid.content.shown(row, column);
    this.place.textContent = [grid.nameOf(row, column), text, look.meaning].filter(Boolean).join(" · ");
    this.summary.textContent = grid.selection.isSingle ? "" : this.#summary();
  }

  /**
   * The size of the block and the plain sum of its cells, as a spreadsheet shows it. Where totals are among
   * them their parts count twice: then how many totals there are, and the sum without them.
   */
  #summary() {
    const { rows, columns, content, selection } = this.grid;
    const { top, bottom, left, right } = selection.block;
    const size = `${bottom - top + 1} × ${right - left + 1} cells`;
    let [sum, withoutTotals, totals, decimals] = [0, 0, 0, 0];
    for (let r = top; r <= bottom; r++) {
      for (let c = left; c <= right; c++) {
        const text = plain(content.text(rows.shown[r], columns.shown[c]));
        if (text !== "" && !NUMBER.test(text)) return size;
        sum += Number(text);
        if (content.isTotal(rows.shown[r], columns.shown[c])) totals += 1;
        else withoutTotals += Number(text);
        decimals = Math.max(decimals, (text.split(".")[1] ?? "").length);
      }
    }
    const written = (number) => grouped(number.toFixed(decimals));
    const all = `${size}, sum ${written(sum)}`;
    if (!totals) return all;
    if (totals === (bottom - top + 1) * (right - left + 1)) return `${all}, all of them totals`;
    return `${all} with ${grouped(String(totals))} ${totals === 1 ? "total" : "totals"}; without ${written(withoutTotals)}`;
  }
}

function keyHelp() {
  const details = element("details", "sheet-keys");
  const summary = element("summary", "");
  summary.textContent = "Keys";
  const list = element("dl", "");
  for (const [keys, meaning] of KEYS) {
    const [term, description] = [element("dt", ""), element("dd", "")];
    term.textContent = keys;
    description.textContent = meaning;
    list.append(term, description);
  }
  details.append(summary, list);
  details.addEventListener("keydown", (event) => {
    if (event.key === "Escape") details.open = false;
  });
  return details;
}
