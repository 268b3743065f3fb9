// Light, dark, or as the system has it; kept in a cookie, so that the server sends the page in it.

const NEXT = { auto: "light", light: "dark", dark: "auto" };
const WORDS = { auto: "as the system has it", light: "light", dark: "dark" };

export function startTheme() {
  const button = document.querySelector("[data-theme-button]");
  button?.addEventListener("click", () => {
    const next = NEXT[document.documentElement.dataset.theme] ?? "auto";
    document.documentElement.dataset.theme = next;
    document.cookie = `theme=${next}; path=/; max-age=31536000; samesite=strict`;
    button.setAttribute("aria-label", `Colours: ${WORDS[next]}`);
    button.title = `Colours: ${WORDS[next]}`;
    document.dispatchEvent(new Event("theme-changed"));
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => document.dispatchEvent(new Event("theme-changed")));
}
