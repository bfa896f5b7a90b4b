// Which thread comes next.

/** Answered, and nobody resolved it on this page a moment ago. */
export const isAnswered = ({ state, resolved }) => state === "answered" && !resolved;

/** The next of `all` that is wanted, round from `current`, which need not be wanted any more. */
export function following(all, current, wanted) {
  const at = all.indexOf(current) + 1;
  return [...all.slice(at), ...all.slice(0, at)].find(wanted) ?? null;
}
