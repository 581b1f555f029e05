/** The content of a sheet: fetched once, then changed in place. */

import { CHANGED, EMPTY, TOTAL } from "./looks.js";

export class Content {
  constructor({ rows, columns, texts, flags, rowTitle, columnTitle }) {
    this.rows = rows;
    this.columns = columns;
    this.rowTitle = rowTitle;
    this.columnTitle = columnTitle;
    this.texts = texts.map((line) => line.split("\t"));
    // Sent as two bytes each, the lower one first; one bit, that an entry waits for its answer, is known here alone.
    const bytes = atob(flags);
    this.flags = Uint16Array.from({ length: bytes.length / 2 }, (_, k) => bytes.charCodeAt(2 * k) | (bytes.charCodeAt(2 * k + 1) << 8));
    this.width = columns.codes.length;
  }

  text(row, column) {
    return this.texts[row][column];
  }

  /** What a cell shows; an entry that waits for its answer stays as it was typed. */
  shown(row, column) {
    const text = this.texts[row][column];
    return this.flag(row, column) & CHANGED ? text : grouped(text);
  }

  flag(row, column) {
    return this.flags[row * this.width + column];
  }

  isTotal(row, column) {
    return (this.flag(row, column) & TOTAL) !== 0;
  }

  set(row, column, text, flags) {
    this.texts[row][column] = text;
    this.flags[row * this.width + column] = flags;
  }

  /** Show an entry at once; the server's answer replaces it. */
  expect(row, column, text) {
    this.set(row, column, text, (this.flag(row, column) & ~EMPTY) | CHANGED);
  }
}

export async function fetchContent(source, version) {
  const response = await fetch(`${source}?version=${version}`, { cache: "no-store" });
  if (!response.ok) throw new Error(`The table could not be fetched (${response.status}): reload the page.`);
  return new Content(await response.json());
}

/** A number, or an interval, with commas between thousands, as the whole app shows them. */
export function grouped(text) {
  return text.length < 4 ? text : text.replace(/(?<![\d.])\d{4,}/g, (digits) => digits.replace(/\B(?=(\d{3})+$)/g, ","));
}

/** A text as a spreadsheet reads it: no thin spaces between thousands, an ASCII minus. */
export function plain(text) {
  return text.replace(/(?<=\d)[\u202f\u00a0\u2009](?=\d)/g, "").replace(/^\u2212/, "-");
}
