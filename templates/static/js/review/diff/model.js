// A changed file as rows to draw, made from the `edits` the API gives. Nothing here compares texts
// line by line: which lines belong together is the service's word.

export const CONTEXT = 3; // lines shown around a change
export const STEP = 20; // lines that one press opens
const NAMED = /^[\p{L}_$]/u; // a line that says which function or section follows, as git sees it
const FAR = 500; // lines looked through for it

/** The lines of a side; a last newline ends a line and does not begin another. */
export function linesOf(text) {
  if (!text) return [];
  const lines = text.split("\n");
  if (lines.at(-1) === "") lines.pop();
  return lines;
}

/** Whether a text misses the newline at its end. */
export const unended = (text) => Boolean(text) && !text.endsWith("\n");

const blank = (line) => line.replace(/\s+/g, "");

/**
 * The edits without those that change white space alone: lines at the same place of an edit that
 * are equal without it count as equal. For showing only; threads are never placed by it.
 */
export function withoutBlanks(edits, old, fresh) {
  return edits.flatMap(([oldStart, oldCount, newStart, newCount]) => {
    if (!oldCount || !newCount) return [[oldStart, oldCount, newStart, newCount]];
    const same = (n, m) => blank(old[oldStart - 1 + n]) === blank(fresh[newStart - 1 + m]);
    let head = 0;
    const least = Math.min(oldCount, newCount);
    while (head < least && same(head, head)) head += 1;
    let tail = 0;
    while (tail < least - head && same(oldCount - 1 - tail, newCount - 1 - tail)) tail += 1;
    const [o, n] = [oldCount - head - tail, newCount - head - tail];
    if (o === n)
      return pieces(oldStart + head, newStart + head, o, (k) => same(head + k, head + k));
    const [from, to] = [oldStart + head, newStart + head];
    return [[o ? from : from - 1, o, n ? to : to - 1, n]];
  });
}

/** An edit of as many old as new lines, without the pairs that are equal. */
function pieces(old, fresh, count, same) {
  const found = [];
  for (let k = 0; k < count; k += 1) {
    if (same(k)) continue;
    const last = found.at(-1);
    if (last && last[0] + last[1] === old + k) {
      last[1] += 1;
      last[3] += 1;
    } else found.push([old + k, 1, fresh + k, 1]);
  }
  return found;
}

/** Tells of a change whether the new base brought it; of a comparison alone, see `from_base`. */
export function fromBase({ edits, from_base: based = [] }) {
  const spans = based.map((n) => edits[n]);
  const within = (from, count, start, most) => from >= start && from + count <= start + most;
  return ({ old, oldCount, new: fresh, newCount }) =>
    spans.some(
      ([oldStart, most, newStart, many]) =>
        within(old, oldCount, most ? oldStart : oldStart + 1, most) &&
        within(fresh, newCount, many ? newStart : newStart + 1, many),
    );
}

/** Equal runs {same, old, new, count} and changes {old, oldCount, new, newCount}, in order. */
function* runs(edits, newLength) {
  let [old, fresh] = [1, 1];
  for (const [oldStart, oldCount, newStart, newCount] of edits) {
    const [from, to] = [oldCount ? oldStart : oldStart + 1, newCount ? newStart : newStart + 1];
    yield { same: true, old, new: fresh, count: to - fresh };
    yield { same: false, old: from, oldCount, new: to, newCount };
    [old, fresh] = [from + oldCount, to + newCount];
  }
  yield { same: true, old, new: fresh, count: newLength - fresh + 1 };
}

/**
 * What is shown at first: [{gap, parts}], the last one without parts. A gap {old, new, count} is
 * what is folded away above the parts of its hunk.
 */
export function hunksOf(edits, newLength) {
  const hunks = [];
  let hunk = null;
  const all = [...runs(edits, newLength)];
  all.forEach((run, n) => {
    if (!run.same) {
      hunk.parts.push(run);
      return;
    }
    const above = n === 0 ? 0 : CONTEXT;
    const below = n === all.length - 1 ? 0 : CONTEXT;
    const hidden = run.count - above - below;
    if (hidden <= 1) {
      hunk ??= opened(hunks, { old: run.old, new: run.new, count: 0 });
      if (run.count) hunk.parts.push(run);
      return;
    }
    if (above) hunk.parts.push({ ...run, count: above });
    const gap = { old: run.old + above, new: run.new + above, count: hidden };
    hunk = opened(hunks, gap);
    if (below) hunk.parts.push(slice(run, above + hidden, below));
  });
  if (hunk.parts.length) opened(hunks, { old: 0, new: newLength + 1, count: 0 });
  return hunks;
}

function opened(hunks, gap) {
  const hunk = { gap, parts: [] };
  hunks.push(hunk);
  return hunk;
}

/** `count` lines of an equal run, from its n-th on. */
export const slice = (run, n, count) => ({
  same: true,
  old: run.old + n,
  new: run.new + n,
  count,
});

/**
 * The rows of a part: {old, new, kind, twin}; 0 where a side has no line. With `split`, old and new
 * side by side. `pairs` says which old lines of a change stand for which new ones.
 */
export function* rowsOf(part, split, pairs) {
  const { old, new: fresh, oldCount, newCount } = part;
  if (part.same) {
    for (let n = 0; n < part.count; n += 1) yield { old: old + n, new: fresh + n, kind: "same" };
    return;
  }
  const twins = pairs.map(([left, right]) => ({ left: old + left, right: fresh + right }));
  const ofOld = new Map(twins.map((twin) => [twin.left, twin]));
  const ofNew = new Map(twins.map((twin) => [twin.right, twin]));
  if (split) {
    for (let n = 0; n < Math.max(oldCount, newCount); n += 1) {
      const [left, right] = [n < oldCount ? old + n : 0, n < newCount ? fresh + n : 0];
      const twin = { old: ofOld.get(left), new: ofNew.get(right) };
      yield { old: left, new: right, kind: "change", twin };
    }
    return;
  }
  for (let n = 0; n < oldCount; n += 1)
    yield { old: old + n, new: 0, kind: "del", twin: { old: ofOld.get(old + n) } };
  for (let n = 0; n < newCount; n += 1)
    yield { old: 0, new: fresh + n, kind: "add", twin: { new: ofNew.get(fresh + n) } };
}

/** How many lines the parts cover on each side: what stands in "@@ −52,11 +52,14 @@". */
export function extent(parts) {
  const [first] = parts;
  let [old, fresh] = [0, 0];
  for (const part of parts) {
    old += part.same ? part.count : part.oldCount;
    fresh += part.same ? part.count : part.newCount;
  }
  return { old: first.old, oldCount: old, new: first.new, newCount: fresh };
}

/** The function or section that line `before` of these lines stands in, "" where none is found. */
export function section(lines, before) {
  for (let n = before - 2; n >= Math.max(0, before - FAR); n -= 1)
    if (NAMED.test(lines[n])) return lines[n].trimEnd().slice(0, 72);
  return "";
}
