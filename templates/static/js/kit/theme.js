// The theme: light, dark, or that of the system. It is a cookie, so that the first paint is right
// and the three ports of one host agree.

const root = document.documentElement;
const THEMES = [
  ["", "as the system", "theme"],
  ["light", "light", "sun"],
  ["dark", "dark", "moon"],
];

/** @param {string} name */
function choose(name) {
  if (name) root.dataset.theme = name;
  else delete root.dataset.theme;
  const age = name ? 31536000 : 0;
  document.cookie = `svc_theme=${name}; path=/; max-age=${age}; samesite=strict`;
}

/** The three themes as items of a menu; the one in force is ticked. */
export const choices = () =>
  THEMES.map(([name, label, icon]) => ({
    label: label[0].toUpperCase() + label.slice(1),
    icon,
    checked: (root.dataset.theme ?? "") === name,
    act: () => choose(name),
  }));
