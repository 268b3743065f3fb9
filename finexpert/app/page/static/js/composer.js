// The question box: Enter asks, Shift and Enter begins a line, an example is put in and asked.

export function startComposer(form) {
  const box = form.querySelector("textarea");
  box.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    if (box.value.trim()) form.requestSubmit();
  });
  form.addEventListener("submit", (event) => {
    if (!box.value.trim()) event.preventDefault();
  });
  form.addEventListener("htmx:afterRequest", (event) => {
    if (event.detail.elt === form && event.detail.successful) box.value = "";
  });
  const day = form.querySelector("[data-usual]");
  day?.addEventListener("change", () => {
    form.querySelector("[data-day]").textContent = day.value || day.dataset.usual;
    day.closest("details").open = false;
    box.focus();
  });
  document.addEventListener("click", (event) => {
    const again = event.target.closest?.("[data-reuse]");
    if (again) {
      box.value = document.getElementById(again.dataset.reuse).textContent.trim();
      box.focus();
    }
    const example = event.target.closest?.("[data-example]");
    if (!example) return;
    box.value = example.textContent;
    form.requestSubmit();
  });
  const source = form.querySelector("[data-follow]");
  source?.addEventListener("change", () => location.assign(`/?source=${encodeURIComponent(source.value)}`));
}
