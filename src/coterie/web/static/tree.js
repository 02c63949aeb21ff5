// The tree editor: keys and choices as in the ARIA pattern of a tree view. Changes go to the server, which answers with
// the editor anew; what was open, chosen and in focus is sent along and comes back.
"use strict";

(() => {
  const editor = () => document.getElementById("editor");
  const tree = () => document.querySelector("#editor [role=tree]");
  const items = () => Array.from(tree().querySelectorAll("[role=treeitem]"));
  const seen = () => items().filter((item) => !item.parentElement.closest("[aria-expanded=false]"));
  const byNode = (node) => document.getElementById(`node-${node}`);
  let anchor = null;

  function current() {
    return tree().querySelector("[role=treeitem][tabindex='0']") || items()[0];
  }

  function chosen() {
    const marked = Array.from(tree().querySelectorAll("[aria-selected=true][data-node]"));
    const here = current();
    const list = marked.length ? marked : here && here.dataset.node ? [here] : [];
    // The one in focus comes first: it is the one that is renamed.
    list.sort((one, other) => (other === here) - (one === here));
    return list;
  }

  function say() {
    const list = chosen();
    const names = list.slice(0, 3).map((item) => item.dataset.label).join(", ");
    document.getElementById("chosen").textContent = list.length > 3 ? `${names} and ${list.length - 3} more` : names;
    const rename = document.getElementById("rename");
    rename.value = list.length ? list[0].dataset.label : "";
  }

  function focusOn(item, { move = true } = {}) {
    if (!item) return;
    for (const each of tree().querySelectorAll("[role=treeitem][tabindex='0']")) each.tabIndex = -1;
    item.tabIndex = 0;
    if (move) {
      item.focus({ preventScroll: true });
      item.querySelector(".line").scrollIntoView({ block: "nearest" });
    }
    say();
  }

  function choose(item, wanted) {
    if (item.dataset.node) item.setAttribute("aria-selected", wanted ? "true" : "false");
  }

  function chooseOnly(item) {
    for (const each of tree().querySelectorAll("[aria-selected=true]")) choose(each, false);
    if (item) choose(item, true);
  }

  function chooseRange(from, to) {
    const list = seen();
    const [first, last] = [list.indexOf(from), list.indexOf(to)].sort((one, other) => one - other);
    chooseOnly(null);
    for (const item of list.slice(first, last + 1)) choose(item, true);
  }

  async function load(address, place) {
    const answer = await fetch(address, { headers: { "HX-Request": "true" } });
    if (answer.ok) place(await answer.text());
  }

  async function open(item, wanted) {
    if (!item.hasAttribute("aria-expanded")) return;
    const list = item.querySelector(":scope > ul");
    if (wanted && list.hasAttribute("data-unloaded")) {
      list.removeAttribute("data-unloaded");
      await load(`${editor().dataset.branch}?node=${item.dataset.node}`, (text) => { list.innerHTML = text; });
    }
    item.setAttribute("aria-expanded", wanted ? "true" : "false");
  }

  async function more(item) {
    const before = item.previousElementSibling;
    await load(`${editor().dataset.branch}?node=${item.dataset.more}&first=${item.dataset.first}`, (text) => {
      item.insertAdjacentHTML("afterend", text);
      const next = item.nextElementSibling;
      item.remove();
      focusOn(next || before);
    });
  }

  function send(what) {
    const button = editor().querySelector(`[data-op="${what}"] button`);
    if (button && !button.disabled) button.click();
  }

  let typed = "";
  let typedAt = 0;
  function typeAhead(key) {
    const now = Date.now();
    typed = now - typedAt > 700 ? key : typed + key;
    typedAt = now;
    const list = seen();
    const from = list.indexOf(current()) + (typed.length === 1 ? 1 : 0);
    const order = [...list.slice(from), ...list.slice(0, from)];
    const found = order.find((item) => (item.dataset.label || "").toLowerCase().startsWith(typed.toLowerCase()));
    if (found) focusOn(found);
  }

  async function right(item) {
    if (item.getAttribute("aria-expanded") === "false") await open(item, true);
    else if (item.hasAttribute("aria-expanded")) focusOn(item.querySelector(":scope > ul > [role=treeitem]"));
  }

  async function left(item) {
    if (item.getAttribute("aria-expanded") === "true") await open(item, false);
    else focusOn(item.parentElement.closest("[role=treeitem]"));
  }

  function step(item, by, extend) {
    const list = seen();
    const next = list[list.indexOf(item) + by];
    if (!next) return;
    if (extend) {
      anchor = anchor && anchor.isConnected ? anchor : item;
      chooseRange(anchor, next);
    } else anchor = null;
    focusOn(next);
  }

  const keys = {
    ArrowDown: (item, event) => (event.altKey ? send("down") : step(item, 1, event.shiftKey)),
    ArrowUp: (item, event) => (event.altKey ? send("up") : step(item, -1, event.shiftKey)),
    ArrowRight: right,
    ArrowLeft: left,
    Home: () => focusOn(seen()[0]),
    End: () => focusOn(seen().at(-1)),
    " ": (item) => { if (item.dataset.more) more(item); else { choose(item, item.getAttribute("aria-selected") !== "true"); say(); } },
    Enter: (item) => { if (item.dataset.more) more(item); else document.getElementById("move-to").focus(); },
    F2: () => { const field = document.getElementById("rename"); field.focus(); field.select(); },
    Delete: () => send("delete"),
    Escape: () => { chooseOnly(null); say(); },
    "*": (item) => { for (const each of item.parentElement.querySelectorAll(":scope > [aria-expanded=false]")) open(each, true); },
  };

  // From a change until its answer stands on the page there is nothing to press keys on, and the focus is on no item:
  // keys that come meanwhile wait their turn.
  let busy = false;
  let waiting = [];

  function press(event, target) {
    const writing = target.matches("input:not([type=checkbox]), select, textarea");
    const ours = editor().contains(target);
    if (busy) {
      if (writing || !(ours || target === document.body)) return false;
      waiting.push(event);
      return true;
    }
    if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "z" && !writing) {
      if (!ours && target !== document.body) return false;
      send("undo");
      return true;
    }
    if (!ours) return false;
    if (event.key === "Escape" && writing && target.closest("#actions")) {
      focusOn(current());
      return true;
    }
    const item = target.closest("[role=treeitem]");
    if (!item || event.ctrlKey || event.metaKey) return false;
    const action = keys[event.key];
    if (action) action(item, event);
    else if (event.key.length === 1 && !event.altKey) typeAhead(event.key);
    return Boolean(action);
  }

  document.addEventListener("keydown", (event) => {
    if (editor() && press(event, event.target)) event.preventDefault();
  });

  function answered() {
    busy = false;
    const late = waiting;
    waiting = [];
    // One of them may be a change again: those after it wait once more.
    for (const event of late) press(event, document.activeElement);
  }
  document.addEventListener("htmx:beforeRequest", (event) => {
    if (editor() && editor().contains(event.detail.elt)) busy = true;
  });
  // No answer, or one that is not put on the page.
  for (const failed of ["htmx:sendError", "htmx:timeout", "htmx:sendAbort", "htmx:responseError"]) {
    document.addEventListener(failed, answered);
  }

  // Screen readers move the focus by themselves.
  document.addEventListener("focusin", (event) => {
    if (event.target.matches("#editor [role=treeitem]") && event.target.tabIndex !== 0) {
      focusOn(event.target, { move: false });
    }
  });

  document.addEventListener("click", (event) => {
    const line = event.target.closest("#editor .tree .line");
    if (!line) return;
    const item = line.closest("[role=treeitem]");
    if (item.dataset.more) { more(item); return; }
    if (event.target.closest(".twist") && item.hasAttribute("aria-expanded")) {
      open(item, item.getAttribute("aria-expanded") !== "true");
      focusOn(item);
      return;
    }
    if (event.shiftKey) chooseRange(current(), item);
    else if (event.ctrlKey || event.metaKey) choose(item, item.getAttribute("aria-selected") !== "true");
    else chooseOnly(item);
    focusOn(item);
  });
  document.addEventListener("dblclick", (event) => {
    const item = event.target.closest("#editor [role=treeitem]");
    if (item) open(item, item.getAttribute("aria-expanded") !== "true");
  });

  // Every change is sent with what is chosen and what is open.
  document.addEventListener("htmx:configRequest", (event) => {
    const root = editor();
    if (!root || !root.contains(event.detail.elt)) return;
    const parameters = event.detail.parameters;
    parameters["stamp"] = root.dataset.stamp;
    parameters["nodes"] = chosen().map((item) => item.dataset.node).join(",");
    parameters["open"] = Array.from(tree().querySelectorAll("[aria-expanded=true]")).map((item) => item.dataset.node).join(",");
  });

  function ready(move) {
    const root = editor();
    if (!root) return;
    const wanted = byNode(root.dataset.focusNode) || items()[0];
    focusOn(wanted, { move: false });
    const faults = document.getElementById("edit-errors");
    if (!move) return;
    document.getElementById("tree-status").textContent = root.dataset.told;
    if (faults) faults.focus();
    else focusOn(wanted);
  }
  document.addEventListener("DOMContentLoaded", () => ready(false));
  document.addEventListener("htmx:afterSettle", (event) => {
    if (event.target.id === "editor" || (event.detail.elt && event.detail.elt.id === "editor")) {
      ready(true);
      answered();
    }
  });
})();
