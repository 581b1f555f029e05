/** The style sheet, loaded once for all sheets of a page. */

let loading;

export function loadStyle() {
  loading ??= new Promise((done) => {
    const link = document.createElement("link");
    link.rel = "stylesheet";
    link.href = new URL("./sheet.css", import.meta.url);
    // Without it the sheet is ugly but works: a failure is no reason to show nothing.
    link.onload = link.onerror = done;
    document.head.append(link);
  });
  return loading;
}
