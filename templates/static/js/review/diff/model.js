// A changed file as rows to draw, made from the `edits` of the API. Nothing here diffs the texts:
// the service decides which lines belong together.

export const CONTEXT = 3; // lines shown around a change
export const STEP = 20; // lines that one press unfolds
const NAMED = /^[\p{L}_$]/u; // a heading line of a function or section, by git's rule
const FAR = 500; // lines searched for it

/** The lines of a side; a final newline ends the last line and does not begin another. */
export function linesOf(text) {
  if (!text) return [];
  const lines = text.split("\n");
  if (lines.at(-1) === "") lines.pop();
  return lines;
}

/** Whether a text lacks the newline at its end. */
export const lacksFinalNewline = (text) => Boolean(text) && !text.endsWith("\n");

const blank = (line) => line.replace(/\s+/g, "");

/**
 * The edits without changes of white space alone: lines at the same offset from the start or the
 * end of an edit that are equal without white space count as equal. For display only; threads are
 * not placed by it.
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

/** An edit with equally many old and new lines, without the pairs that are equal. */
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

/** A predicate: whether a change came with the new base. Only for comparisons; see `from_base`. */
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
 * The hunks shown at first: [{gap, parts}], the last one without parts. A gap {old, new, count} is
 * the run of folded lines above the parts of its hunk.
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
      hunk ??= addHunk(hunks, { old: run.old, new: run.new, count: 0 });
      if (run.count) hunk.parts.push(run);
      return;
    }
    if (above) hunk.parts.push({ ...run, count: above });
    const gap = { old: run.old + above, new: run.new + above, count: hidden };
    hunk = addHunk(hunks, gap);
    if (below) hunk.parts.push(slice(run, above + hidden, below));
  });
  if (hunk.parts.length) addHunk(hunks, { old: 0, new: newLength + 1, count: 0 });
  return hunks;
}

function addHunk(hunks, gap) {
  const hunk = { gap, parts: [] };
  hunks.push(hunk);
  return hunk;
}

/** `count` lines of an equal run, starting at its n-th line. */
export const slice = (run, n, count) => ({
  same: true,
  old: run.old + n,
  new: run.new + n,
  count,
});

/**
 * The rows of a part: {old, new, kind, twin}; 0 where a side has no line. With `split`, old and new
 * are side by side. `pairs`: which old line of a change corresponds to which new one.
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

/** The lines that the parts cover on each side, as in "@@ −52,11 +52,14 @@". */
export function extent(parts) {
  const [first] = parts;
  let [old, fresh] = [0, 0];
  for (const part of parts) {
    old += part.same ? part.count : part.oldCount;
    fresh += part.same ? part.count : part.newCount;
  }
  return { old: first.old, oldCount: old, new: first.new, newCount: fresh };
}

/** The heading of the function or section that contains line `before`; "" if none is found. */
export function section(lines, before) {
  for (let n = before - 2; n >= Math.max(0, before - FAR); n -= 1)
    if (NAMED.test(lines[n])) return lines[n].trimEnd().slice(0, 72);
  return "";
}
