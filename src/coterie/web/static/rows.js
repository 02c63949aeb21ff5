// Rows of a table that come as one scrolls, and go when they are far away. Without this script there are links to pages.
"use strict";

(() => {
  const MOST = 5; // parts of rows that are kept; each is up to a hundred rows
  const NEAR = 800; // pixels from an end at which the next part is asked for
  const region = document.querySelector("[data-rows]");
  if (!region) return;
  const table = region.querySelector("table");
  const shown = document.getElementById("rows-shown");
  const status = document.getElementById("rows-status");
  const total = Number(region.dataset.total);
  const part = Number(region.dataset.part);
  const count = (number) => number.toLocaleString("en");
  const first = () => Number(table.tBodies[0].dataset.start);
  const end = () => Number(table.tBodies[table.tBodies.length - 1].dataset.end);
  let busy = false;

  async function ask(start, rows) {
    const answer = await fetch(`${region.dataset.rows}&row=${start + 1}&count=${rows}`, { headers: { "HX-Request": "true" } });
    if (!answer.ok) throw new Error(`rows: ${answer.status}`);
    const holder = document.createElement("table");
    holder.innerHTML = await answer.text();
    const came = holder.tBodies[0];
    // The table may have been read anew meanwhile, and be another one.
    if (!came || Number(came.dataset.start) !== start || !came.rows.length) throw new Error("rows: other ones came");
    return came;
  }

  // What comes or goes above must not move what is being read.
  function above(change) {
    const before = table.offsetHeight;
    change();
    region.scrollTop += table.offsetHeight - before;
  }

  async function after() {
    const came = await ask(end(), Math.min(part, total - end()));
    table.append(came);
    while (table.tBodies.length > MOST) above(() => table.tBodies[0].remove());
  }

  async function before() {
    const start = Math.max(first() - part, 0);
    const came = await ask(start, first() - start);
    above(() => table.tBodies[0].before(came));
    while (table.tBodies.length > MOST) table.tBodies[table.tBodies.length - 1].remove();
  }

  async function look() {
    if (busy) return;
    const below = region.scrollHeight - region.scrollTop - region.clientHeight;
    const wanted = below < NEAR && end() < total ? after : region.scrollTop < NEAR && first() > 0 ? before : null;
    if (!wanted) return;
    busy = true;
    try {
      await wanted();
      status.textContent = "";
      shown.textContent = `${count(first() + 1)} to ${count(end())}`;
    } catch {
      status.textContent = "More rows could not be read. Reload the page.";
      return;
    } finally {
      busy = false;
    }
    look();
  }

  // Somebody who went to a row wants to see it at the top; what is before it comes when they turn back.
  region.addEventListener("scroll", look, { passive: true });
  region.addEventListener("wheel", look, { passive: true });
  region.addEventListener("touchmove", look, { passive: true });
  region.addEventListener("keydown", look);
})();
