// Keys for everything that is done often. None of them counts while somebody types.

const typing = (target) => target.closest?.("input, textarea, select, [contenteditable]");

function step(by) {
  const turns = [...document.querySelectorAll(".turn")];
  if (!turns.length) return;
  const now = turns.findIndex((turn) => turn.contains(document.activeElement));
  const next = turns[Math.min(turns.length - 1, Math.max(0, now < 0 ? turns.length - 1 : now + by))];
  next.focus({ preventScroll: true });
  next.scrollIntoView({ block: "start", behavior: "auto" });
}

const KEYS = {
  "/": () => {
    document.body.classList.add("side-open");
    document.querySelector("#search")?.focus();
  },
  n: () => location.assign("/"),
  q: () => document.querySelector("[data-composer] textarea")?.focus(),
  j: () => step(1),
  k: () => step(-1),
  "?": () => document.querySelector("#keys")?.showModal(),
};

export function startKeys() {
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
    if (event.key === "Escape") return escape(event);
    if (typing(event.target) || !KEYS[event.key]) return;
    event.preventDefault();
    KEYS[event.key]();
  });
}

function escape(event) {
  if (typing(event.target)) return event.target.blur();
  if (document.body.classList.contains("side-open")) return document.body.classList.remove("side-open");
  const panel = document.querySelector("#panel:not([hidden]) [data-close-panel]");
  if (panel) return panel.click();
  document.querySelector("[data-cancel]")?.focus();
}
