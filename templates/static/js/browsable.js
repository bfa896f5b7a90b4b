// Add what the page of the browsable API lacks: its language, and its main landmark.

document.documentElement.lang = "en";
for (const long of document.querySelectorAll("pre")) long.tabIndex = 0; // to scroll it by keys
const trail = document.querySelector(".breadcrumb");
if (trail) {
  const nav = document.createElement("nav");
  nav.setAttribute("aria-label", "Where you are");
  trail.replaceWith(nav);
  nav.append(trail);
}
for (const inner of document.querySelectorAll("[role=main] [role=main]")) {
  inner.removeAttribute("role");
  inner.removeAttribute("aria-label");
}
