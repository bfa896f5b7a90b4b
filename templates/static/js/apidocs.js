// Give the page of the API the theme of the other pages: the chosen one, else the system's.

const system = matchMedia("(prefers-color-scheme: dark)");
const [, chosen] = /(?:^|; )svc_theme=(light|dark)/.exec(document.cookie) ?? [];

function follow() {
  const dark = chosen ? chosen === "dark" : system.matches;
  document.documentElement.classList.toggle("dark-mode", dark);
}

const SKIPPED = "h3.opblock-tag:not([aria-level]), .models h4:not([aria-level])";
const OUTSIDE = ".information-container:not([role])";

/** Mend the markup: Swagger UI skips a heading level and puts its header outside all landmarks. */
new MutationObserver(() => {
  for (const heading of document.querySelectorAll(SKIPPED)) {
    heading.setAttribute("role", "heading");
    heading.setAttribute("aria-level", "2");
  }
  for (const part of document.querySelectorAll(OUTSIDE)) {
    part.setAttribute("role", "region");
    part.setAttribute("aria-label", "About this API");
  }
}).observe(document, { childList: true, subtree: true });

system.addEventListener("change", follow);
follow();
