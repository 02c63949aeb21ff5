// Shows how much of a file was sent, and lets it be cancelled. Without this script the browser sends the form its own way.
// htmx could send it as well, but writes an error into the console when somebody cancels.
"use strict";

(() => {
  const form = document.getElementById("upload");
  const part = (name) => document.getElementById(name);
  const said = part("sending-said");
  const megabytes = (bytes) => (bytes / (1 << 20)).toLocaleString("en", { minimumFractionDigits: 1, maximumFractionDigits: 1 });
  let sending = null; // the request under way
  let told = 0; // the last quarter that screen readers were told of

  function fault(text) {
    const place = part("sending-fault");
    place.hidden = !text;
    place.lastElementChild.textContent = text;
    if (text) place.focus();
  }

  function show(sent, size) {
    const percent = size ? Math.floor(100 * Math.min(sent / size, 1)) : 100;
    part("sending-bar").value = percent;
    part("sending-text").textContent = `${percent} %, ${megabytes(Math.min(sent, size))} of ${megabytes(size)} MB`;
    // Screen readers say every change of the status: each quarter will do.
    const quarter = Math.floor(percent / 25);
    if (quarter > told) said.textContent = quarter === 4 ? "The file was sent and is being opened." : `${percent} % sent`;
    told = quarter;
  }

  // What screen readers are told of the progress, others see anyway.
  function atWork(yes, text) {
    const moved = !yes && part("sending").contains(document.activeElement);
    part("sending").hidden = !yes;
    part("upload-button").disabled = yes;
    said.classList.toggle("visually-hidden", yes);
    said.textContent = text;
    if (yes) part("sending-stop").focus();
    if (moved) part("file").focus();
  }

  function failed(text) {
    sending = null;
    atWork(false, "");
    fault(text);
  }

  function answered(request) {
    const next = request.getResponseHeader("HX-Redirect");
    if (next) {
      location.assign(next);
      return;
    }
    const told = new DOMParser().parseFromString(request.responseText, "text/html");
    failed((told.querySelector("main") || told.body).textContent.trim());
  }

  function send(file) {
    const request = new XMLHttpRequest();
    sending = request;
    told = 0;
    request.upload.addEventListener("progress", (event) => show(event.loaded, Math.max(file.size, 1)));
    request.addEventListener("load", () => answered(request));
    request.addEventListener("error", () => failed(
      "The upload failed. If coterie is still running, the file has changed, or there is no space left for it. Try again, or open it by its path."));
    request.addEventListener("abort", () => {
      sending = null;
      atWork(false, "Cancelled. Nothing was saved.");
    });
    request.open("POST", form.action);
    request.setRequestHeader("HX-Request", "true"); // the next address as a header, faults as a few words
    part("sending-name").textContent = file.name;
    atWork(true, "The file is being sent.");
    show(0, file.size);
    request.send(new FormData(form));
  }

  form.addEventListener("submit", (event) => {
    const file = part("file").files[0];
    if (!file) return; // the server says what to do
    event.preventDefault();
    if (sending) return;
    fault("");
    const limit = Number(form.dataset.limit);
    if (file.size > limit) {
      fault(`It has ${megabytes(file.size)} MB; the limit for uploads is ${megabytes(limit)} MB. Open it by its path instead, or start with a higher --upload-limit.`);
    } else {
      send(file);
    }
  });
  part("sending-stop").addEventListener("click", () => { if (sending) sending.abort(); });

  // A browser that comes back to the page as it was left would show it at work for ever.
  addEventListener("pageshow", (event) => {
    if (!event.persisted) return;
    sending = null;
    atWork(false, "");
  });
})();
