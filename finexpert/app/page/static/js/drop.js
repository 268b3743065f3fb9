// A file that is dropped on the page goes into the file field of its form.

export function startDrop(area) {
  const field = area.querySelector("input[type=file]");
  const name = area.querySelector("[data-name]");
  const over = (on) => (event) => {
    event.preventDefault();
    area.classList.toggle("over", on);
  };
  area.addEventListener("dragenter", over(true));
  area.addEventListener("dragover", over(true));
  area.addEventListener("dragleave", over(false));
  area.addEventListener("drop", (event) => {
    over(false)(event);
    if (!event.dataTransfer.files.length) return;
    field.files = event.dataTransfer.files;
    field.dispatchEvent(new Event("change"));
  });
  field.addEventListener("change", () => {
    name.textContent = field.files.length ? field.files[0].name : "";
  });
}
