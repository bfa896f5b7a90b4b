// The order of threads, and which one comes next.

/** Whether a thread is answered and was not just resolved on this page. */
export const isAnswered = ({ state, resolved }) => state === "answered" && !resolved;

/** The next wanted item of `all` after `current`, cyclic; `current` itself need not be wanted. */
export function following(all, current, wanted) {
  const at = all.indexOf(current) + 1;
  return [...all.slice(at), ...all.slice(0, at)].find(wanted) ?? null;
}

/** The threads in the order of the page, from the top; `paths` are those of its files. */
export function fromTop(threads, paths) {
  const files = new Map(paths.map((path, n) => [path, n]));
  const rank = ({ path }) => files.get(path) ?? -1;
  const by = (a, b) => rank(a) - rank(b) || (a.line ?? 0) - (b.line ?? 0);
  return [...threads].sort(by); // stable for threads at one place
}
