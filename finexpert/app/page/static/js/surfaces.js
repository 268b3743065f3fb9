// What opens and closes: the panel beside the answers, dialogs, folds, the side bar on a phone.

import { toast } from "./notices.js";

let opener = null;

function closePanel() {
  const panel = document.querySelector("#panel");
  panel.hidden = true;
  panel.replaceChildren();
  document.querySelector(".shell").classList.remove("with-panel");
  opener?.focus();
  opener = null;
}

export function startPanels() {
  document.body.addEventListener("htmx:beforeRequest", (event) => {
    if (event.detail.target?.id === "panel") opener = event.detail.elt;
  });
  document.body.addEventListener("htmx:afterSwap", (event) => {
    if (event.detail.target?.id !== "panel") return;
    event.detail.target.hidden = false;
    document.querySelector(".shell").classList.add("with-panel");
    event.detail.target.querySelector("h2")?.focus();
  });
  document.addEventListener("click", (event) => {
    const target = event.target.closest?.("[data-close-panel], [data-fold], [data-side], [data-copy], [data-copy-table]");
    if (!target) return;
    if (target.matches("[data-close-panel]")) closePanel();
    if (target.matches("[data-side]")) document.body.classList.toggle("side-open");
    if (target.matches("[data-fold]")) fold(target);
    if (target.matches("[data-copy]")) copy(target, document.getElementById(target.dataset.copy).textContent.trim());
    if (target.matches("[data-copy-table]")) copy(target, cells(document.getElementById(target.dataset.copyTable)));
  });
}

// Of the folds of one answer, one is open at a time.
function fold(button) {
  const open = button.getAttribute("aria-expanded") !== "true";
  for (const other of button.closest("[data-folds]").querySelectorAll("[data-fold]")) {
    // A sheet may be opened from two places of its answer.
    const shown = open && other.getAttribute("aria-controls") === button.getAttribute("aria-controls");
    other.setAttribute("aria-expanded", String(shown));
    const sheet = document.getElementById(other.getAttribute("aria-controls"));
    sheet.hidden = !shown;
    if (shown) sheet.scrollIntoView({ block: "nearest" });
  }
}

async function copy(button, text) {
  const said = button.querySelector("[data-said]");
  try {
    await navigator.clipboard.writeText(text);
    if (said) said.textContent = "Copied";
    else toast("Copied.", "good");
  } catch {
    // A page without https has no clipboard, and a browser may refuse it.
    if (said) said.textContent = "Not copied";
    else toast("The browser did not let it be copied.");
  }
}

// A table as a spreadsheet takes it: a line a row, tabs between cells.
function cells(place) {
  const lines = [...place.querySelectorAll("tr")].map((row) => [...row.cells].map((cell) => cell.querySelector(".empty-cell") ? "" : cell.textContent.trim().replace(/\s+/g, " ")));
  return lines.map((line) => line.join("\t")).join("\n");
}

// What is typed unseen, such as an address with a password, may be looked at.
export function startShows(box) {
  const field = document.getElementById(box.dataset.shows);
  box.addEventListener("change", () => (field.type = box.checked ? "text" : "password"));
}

export function startDialogs() {
  document.addEventListener("click", (event) => {
    const opens = event.target.closest?.("[data-opens]");
    if (opens) document.getElementById(opens.dataset.opens)?.showModal();
    if (event.target.closest?.("[data-closes]")) event.target.closest("dialog").close();
    if (event.target.matches?.("dialog")) event.target.close();
  });
  document.body.addEventListener("htmx:afterSwap", (event) => {
    const dialog = document.getElementById("dialog");
    if (event.detail.target?.id === "dialog-inside" && !dialog.open) dialog.showModal();
  });
}
