// Seconds that run while a question is under way, and what the server says when something could not be done.

export function startClocks() {
  setInterval(() => {
    for (const clock of document.querySelectorAll("[data-since]")) {
      clock.dataset.began ??= String(performance.now() - 1000 * Number(clock.dataset.since));
      const seconds = Math.floor((performance.now() - Number(clock.dataset.began)) / 1000);
      const shown = seconds < 60 ? `${seconds} s` : `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
      if (clock.textContent !== shown) clock.textContent = shown;
    }
  }, 200);
}

export function toast(text, kind = "bad") {
  const note = document.createElement("div");
  note.className = `note ${kind}`;
  note.textContent = text;
  const toasts = document.querySelector("#toasts");
  // Behind an open dialog nothing is seen or heard.
  (document.querySelector("dialog[open]") ?? document.body).append(toasts);
  toasts.append(note);
  setTimeout(() => note.remove(), 9000);
}

// What any door of the server says of an error.
function problem(text) {
  try {
    return JSON.parse(text).error.message;
  } catch {
    return "That could not be done. Try again, or reload the page.";
  }
}

export function startToasts() {
  document.body.addEventListener("htmx:responseError", (event) => {
    if (event.detail.xhr.status === 401) return location.reload();
    toast(problem(event.detail.xhr.responseText));
  });
  document.body.addEventListener("htmx:sendError", () => toast("The server cannot be reached. What was answered is kept: reload when it is back."));
  document.body.addEventListener("said", (event) => toast(event.detail.value, "good"));
}
