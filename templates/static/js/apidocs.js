// The page of the API in the theme of the other pages: the chosen one, else the system's.

const system = matchMedia("(prefers-color-scheme: dark)");
const [, chosen] = /(?:^|; )svc_theme=(light|dark)/.exec(document.cookie) ?? [];

function follow() {
  const dark = chosen ? chosen === "dark" : system.matches;
  document.documentElement.classList.toggle("dark-mode", dark);
}

system.addEventListener("change", follow);
follow();
