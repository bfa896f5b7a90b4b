// Which thread comes next.

/** Answered, and nobody resolved it on this page a moment ago. */
export const isAnswered = ({ state, resolved }) => state === "answered" && !resolved;

/** The next of `all` that is wanted, round from `current`, which need not be wanted any more. */
export function following(all, current, wanted) {
  const at = all.indexOf(current) + 1;
  return [...all.slice(at), ...all.slice(0, at)].find(wanted) ?? null;
}

/** As they stand on the page, from the top; `paths` are those of its files. */
export function fromTop(threads, paths) {
  const files = new Map(paths.map((path, n) => [path, n]));
  const rank = ({ path }) => files.get(path) ?? -1;
  const by = (a, b) => rank(a) - rank(b) || (a.line ?? 0) - (b.line ?? 0);
  return [...threads].sort(by); // those of one place stay in their order
}
