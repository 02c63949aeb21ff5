// Small helpers of the page. Everything works without them but where it says so; see the list in coterie.css.
"use strict";

(() => {
  const all = (root, what) => Array.from(root.querySelectorAll(what));

  // Summaries of errors, and what a step wants to be read first, take the focus.
  function takeFocus(root) {
    const wanted = root.querySelector("[data-focus]");
    if (!wanted) return;
    wanted.focus({ preventScroll: true });
    wanted.scrollIntoView({ block: "nearest" });
  }

  // A fault's link leads to its input, not only to where it stands.
  document.addEventListener("click", (event) => {
    const link = event.target.closest(".errors a[href^='#']");
    if (!link) return;
    const field = document.getElementById(decodeURIComponent(link.getAttribute("href").slice(1)));
    if (!field) return;
    event.preventDefault();
    for (let fold = field.closest("details"); fold; fold = fold.parentElement.closest("details")) fold.open = true;
    field.focus();
    field.scrollIntoView({ block: "center" });
  });

  document.addEventListener("click", async (event) => {
    const button = event.target.closest("[data-copy]");
    if (!button) return;
    const source = document.getElementById(button.dataset.copy);
    const before = button.textContent;
    try {
      await navigator.clipboard.writeText(source.textContent);
      button.textContent = "Copied";
    } catch {
      getSelection().selectAllChildren(source);
      button.textContent = "Press Ctrl+C";
    }
    setTimeout(() => { button.textContent = before; }, 2000);
  });

  // The question is asked before htmx or the browser sends anything.
  document.addEventListener("click", (event) => {
    const button = event.target.closest("[data-confirm]");
    if (button && !window.confirm(button.dataset.confirm)) {
      event.preventDefault();
      event.stopImmediatePropagation();
    }
  }, true);

  // A server that is gone is noticed before a form is sent to nobody: what was typed stays.
  const LOOK_EVERY = 10000;
  let dead = false;
  async function alive() {
    const place = document.getElementById("dead");
    if (!place) return true;
    try {
      const answer = await fetch(place.dataset.alive, { cache: "no-store", redirect: "manual", signal: AbortSignal.timeout(5000) });
      dead = answer.status !== 204;
    } catch {
      dead = true;
    }
    if (place.hidden === dead) place.hidden = !dead;
    if (dead) place.scrollIntoView({ block: "nearest" });
    return !dead;
  }
  setInterval(() => { if (!document.hidden || dead) alive(); }, LOOK_EVERY);
  document.addEventListener("visibilitychange", () => { if (!document.hidden) alive(); });
  document.addEventListener("htmx:sendError", alive);

  document.addEventListener("submit", async (event) => {
    const form = event.target;
    if (event.defaultPrevented || form.method !== "post" || form.dataset.asked) {
      delete form.dataset.asked;
      return;
    }
    event.preventDefault();
    event.stopImmediatePropagation();
    if (form.dataset.asking) return;
    form.dataset.asking = "yes";
    const there = await alive();
    delete form.dataset.asking;
    if (!there) return;
    form.dataset.asked = "yes";
    form.requestSubmit(event.submitter);
  });

  // A double click sends a form once. What scripts send themselves has been taken from the browser by now.
  document.addEventListener("submit", (event) => {
    const form = event.target;
    if (event.defaultPrevented) return;
    if (form.dataset.sent) {
      event.preventDefault();
      return;
    }
    form.dataset.sent = "yes";
    setTimeout(() => { delete form.dataset.sent; }, 2000);
  });
  addEventListener("pageshow", () => { for (const form of all(document, "form[data-sent]")) delete form.dataset.sent; });

  document.addEventListener("change", (event) => {
    const target = event.target;
    if (target.matches("[data-check-all]")) {
      const scope = target.form || document;
      for (const box of all(scope, `input[type=checkbox][name="${CSS.escape(target.dataset.checkAll)}"]`)) {
        if (box.checked !== target.checked) {
          box.checked = target.checked;
          box.dispatchEvent(new Event("change", { bubbles: true }));
        }
      }
    }
    if (target.matches("[data-submit]") && target.form) target.form.requestSubmit();
  });

  // What only makes sense with a script says so by data-script; buttons that a script replaces by data-no-script.
  function prepare(root) {
    for (const each of all(root, "[data-no-script]")) each.hidden = true;
    for (const each of all(root, "[data-script]")) each.hidden = false;
  }

  // Parts of the form that belong to one choice show with it: data-shown-with="name=value".
  function showParts(root) {
    for (const part of all(root, "[data-shown-with]")) {
      const [name, value] = part.dataset.shownWith.split("=");
      const scope = part.closest("form") || document;
      const chosen = scope.querySelector(`[name="${CSS.escape(name)}"]:checked, select[name="${CSS.escape(name)}"]`);
      part.hidden = !chosen || chosen.value !== value;
    }
  }
  document.addEventListener("change", () => showParts(document));

  function ready(root) {
    prepare(root);
    showParts(document);
    takeFocus(root);
  }
  document.addEventListener("DOMContentLoaded", () => ready(document));
  document.addEventListener("htmx:afterSettle", (event) => ready(event.detail.elt || document));
})();
