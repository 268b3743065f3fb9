// Keeps the newest part of a conversation in view.

function toEnd() {
  document.querySelector(".turn:last-of-type")?.scrollIntoView({ block: "start", behavior: "auto" });
}

export function startTalk() {
  if (document.querySelector("[data-conversation]")) toEnd();
  document.body.addEventListener("htmx:sseBeforeMessage", (event) => {
    if (event.detail.type === "done") window.htmx.trigger("#talks", "refresh");
  });
  document.body.addEventListener("htmx:afterSettle", (event) => {
    // A new turn or a finished one; what is sorted or opened within a turn stays where the person looks.
    if (event.detail.elt?.matches?.("#turns, #turns > .turn")) toEnd();
  });
}
