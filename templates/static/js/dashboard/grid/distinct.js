// A word that distinguishes apps of the same name, such as a site and its worktree.

const last = (path) => path?.split("/").filter(Boolean).at(-1);
const WAYS = [
  (app) => app.identity?.git?.branch,
  (app) => last(app.identity?.cwd),
  (app) => app.slug,
];

/** Slug → branch, directory or slug, for apps that share their name with another. */
export function distinct(apps) {
  const named = Map.groupBy(apps, ({ name }) => name.toLowerCase());
  const found = new Map();
  for (const same of named.values()) {
    if (same.length === 1) continue;
    const way = WAYS.find((tell) => {
      const words = same.map(tell);
      return words.every(Boolean) && new Set(words).size === same.length;
    });
    for (const app of same) found.set(app.slug, way(app));
  }
  return found;
}
