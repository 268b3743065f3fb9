// Keeps the newest part of a conversation in view.

function toEnd(smooth) {
  const last = document.querySelector(".turn:last-of-type");
  last?.scrollIntoView({ block: "start", behavior: smooth ? "smooth" : "auto" });
}

export function startTalk() {
  if (document.querySelector("[data-conversation]")) toEnd(false);
  document.body.addEventListener("htmx:sseBeforeMessage", (event) => {
    if (event.detail.type === "done") window.htmx.trigger("#talks", "refresh");
  });
  document.body.addEventListener("htmx:afterSettle", (event) => {
    if (event.detail.elt?.closest?.("#turns")) toEnd(false);
  });
}
