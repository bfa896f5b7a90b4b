// The browser's tab: how many apps are down or degraded, in words and on the icon.

/** @type {HTMLLinkElement} */
const link = document.querySelector("link[rel=icon]");
const plain = link.href;
const part = document.title;
const RED = "#c5372a";
const badge = (count) =>
  `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="9" fill="${RED}"/><text x="16" y="23.5" font-family="system-ui,sans-serif" font-size="21" font-weight="700" text-anchor="middle" fill="#fff">${count > 9 ? "9+" : count}</text></svg>`;

let shown = 0;

/** `title`: from config.yaml; the icon changes only while something is down. */
export function tab(title, { down, degraded }) {
  const words = [down && `${down} down`, degraded && `${degraded} degraded`].filter(Boolean);
  document.title = words.length ? `${title}: ${words.join(", ")}` : title || part;
  if (shown === down) return;
  shown = down;
  link.href = down ? `data:image/svg+xml,${encodeURIComponent(badge(down))}` : plain;
}
