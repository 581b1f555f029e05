/* The line between a page and its server: what was done arrives before the page is left, and a line that is
   cut covers the page and says what is lost. */
(() => {
  const cover = document.getElementById("connection");
  const EVERY = 1000;
  const PATIENCE = 4000;
  const LEAVING = 30000;
  let looking = false;

  /* ------------------------------------------------------------------ leaving a page */

  /** Resolve when the server has dealt with everything that this page sent; after a while in any case. */
  async function settle() {
    const until = Date.now() + LEAVING;
    const wait = (time) => new Promise((resolve) => setTimeout(resolve, time));
    // Before the handshake events are held back, and looked at every ten milliseconds.
    while (!window.did_handshake && Date.now() < until) await wait(10);
    await wait(20);
    if (!window.socket?.connected) return;
    await new Promise((resolve) => {
      window.socket.timeout(LEAVING).emit("settle", resolve);
    });
  }

  document.addEventListener("click", (event) => {
    const link = event.target.closest?.("a[href]");
    const plain = event.button === 0 && !event.ctrlKey && !event.metaKey && !event.shiftKey && !event.altKey;
    if (!link || !plain || event.defaultPrevented || link.target || link.hasAttribute("download")) return;
    if (link.origin !== location.origin || link.getAttribute("href").startsWith("#")) return;
    event.preventDefault();
    settle().then(() => location.assign(link.href));
  });

  /* ------------------------------------------------------------------ a lost connection */

  /** Ask whether the server is there: "same", "other", "unknown" (no session), "busy" or "gone". */
  async function ask() {
    try {
      const answer = await fetch("/alive", { cache: "no-store", signal: AbortSignal.timeout(PATIENCE) });
      if (answer.ok) return (await answer.text()) === cover.dataset.server ? "same" : "other";
      return answer.status === 403 ? "unknown" : "gone";
    } catch (error) {
      // Nobody listens at the port of a server that has ended; one that is busy lets us wait.
      return error.name === "TimeoutError" ? "busy" : "gone";
    }
  }

  function show(state) {
    // As the server told last, which was a second ago or less.
    document.getElementById("connection-kept").textContent = document.getElementById("kept-now")?.textContent ?? "";
    for (const part of cover.querySelectorAll("[data-when]")) {
      part.hidden = !part.dataset.when.split(" ").includes(state);
    }
    cover.dataset.state = state;
    if (!cover.open) cover.showModal();
  }

  async function look() {
    if (looking) return;
    looking = true;
    while (!window.socket.connected) {
      const state = await ask();
      if (state === "other") {
        location.replace("/");
        return;
      }
      show(state);
      if (state === "same") window.socket.connect();
      await new Promise((resolve) => setTimeout(resolve, EVERY));
    }
    looking = false;
    cover.close();
  }

  function lose() {
    // Tried again once it is known that the server is the same: another one would not know this page.
    window.socket.io.reconnection(false);
    show("busy");
    look();
  }

  cover.addEventListener("cancel", (event) => event.preventDefault());
  const found = setInterval(() => {
    if (!window.socket) return;
    clearInterval(found);
    let left = false;
    // A page that is left cuts its own line.
    window.addEventListener("pagehide", () => (left = true));
    window.addEventListener("pageshow", () => (left = false));
    window.socket.on("disconnect", () => left || lose());
    window.socket.on("connect_error", () => left || look());
  }, 20);
})();
