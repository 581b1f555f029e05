/* How far an upload is: a bar at the foot of the page, from the first moment that one has to wait. */
(() => {
  const EVERY = 100;
  /** Before this nobody waits, and a bar would only flicker. */
  const PATIENCE = 300;

  function formatSize(bytes) {
    const [unit, name] = bytes >= 1e9 ? [1e9, "GB"] : bytes >= 1e6 ? [1e6, "MB"] : [1e3, "kB"];
    return `${(bytes / unit).toLocaleString("en", { maximumFractionDigits: 1, minimumFractionDigits: 1 })} ${name}`;
  }

  window.showUpload = (uploader) => {
    const place = document.getElementById("uploading");
    const [words, bar] = [place.querySelector("span"), place.querySelector("progress")];
    // The bar that Quasar draws at the top of the page comes without a name.
    document.querySelector(".q-loading-bar")?.setAttribute("aria-hidden", "true");
    const began = Date.now();
    const looking = setInterval(() => {
      const all = uploader.files.reduce((sum, file) => sum + file.size, 0);
      const sent = uploader.files.reduce((sum, file) => sum + (file.__uploaded ?? 0), 0);
      if (!uploader.isUploading) clearInterval(looking);
      place.hidden = !uploader.isUploading || Date.now() < began + PATIENCE;
      bar.value = all ? Math.min(1, sent / all) : 0;
      words.textContent = sent < all ? `Uploading: ${formatSize(sent)} of ${formatSize(all)}` : `Uploaded ${formatSize(all)}: reading …`;
    }, EVERY);
  };
})();
