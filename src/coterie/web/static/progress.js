// Follows a run by server-sent events. Without this script the page reloads itself now and then.
"use strict";

(() => {
  const place = document.querySelector("[data-events]");
  if (!place || !window.EventSource) return;
  const text = document.getElementById("progress-text");
  const bar = document.getElementById("progress-bar");
  const time = document.getElementById("progress-time");
  const left = document.getElementById("progress-left");
  const source = new EventSource(place.dataset.events);

  source.addEventListener("progress", (event) => {
    const now = JSON.parse(event.data);
    // Screen readers say every change of the status, so that it changes with the step only.
    if (text.textContent !== now.text) text.textContent = now.text;
    if (now.total) {
      bar.max = now.total;
      bar.value = now.done;
    } else {
      bar.removeAttribute("value");
    }
    time.textContent = now.elapsed;
    left.textContent = now.left ? `, about ${now.left} left in this step` : "";
  });
  source.addEventListener("over", () => {
    source.close();
    location.reload();
  });
  addEventListener("pagehide", () => source.close());
})();
