/* Whether the user waits for what a button began: so it is until a key, the mouse or another window is used. */
(() => {
  let button = null;

  for (const kind of ["pointerdown", "keydown", "wheel", "input"]) {
    document.addEventListener(kind, () => { button = null; }, { capture: true, passive: true });
  }
  document.addEventListener("visibilitychange", () => { button = null; });
  // After the key or the mouse button that pressed it.
  document.addEventListener("click", (event) => {
    button = event.target.closest?.("[data-testid]")?.dataset.testid ?? null;
  }, true);

  /** Open a page for somebody who has done nothing since pressing the button, by its data-testid. */
  window.openIfAwaited = (name, path) => {
    if (button === name) location.assign(path);
  };
})();
