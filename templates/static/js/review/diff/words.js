// The words that differ between two corresponding lines.

const TOKENS = /[\p{L}\p{N}_$]+|\s+|[^\p{L}\p{N}_$\s]/gu;
const LONGEST = 1000; // characters of a line that is compared
const MOST = 160; // words of the differing part at most
const ALIKE = 0.3; // share of equal characters below which the whole line counts as changed

/** The marks [[start, end], …] of both lines, or null when they have too little in common. */
export function wordMarks(old, fresh) {
  if (old.length > LONGEST || fresh.length > LONGEST) return null;
  const [a, b] = [old.match(TOKENS) ?? [], fresh.match(TOKENS) ?? []];
  const found = [[], []];
  compare(a, b, { a0: 0, a1: a.length, b0: 0, b1: b.length }, found);
  const marks = [spans(a, found[0]), spans(b, found[1])];
  const changedLength = (side, tokens) =>
    side.reduce((sum, n) => sum + (tokens[n].trim() ? tokens[n].length : 0), 0);
  const size = old.replace(/\s/g, "").length + fresh.replace(/\s/g, "").length;
  const kept = size - changedLength(found[0], a) - changedLength(found[1], b);
  return kept >= size * ALIKE ? telling(marks, old, fresh) : null;
}

/** The marks without those of the indent, unless nothing else differs. */
function telling(marks, old, fresh) {
  const words = (side, line) =>
    side.filter(([start, end]) => start > 0 || line.slice(0, end).trim() !== "");
  const found = [words(marks[0], old), words(marks[1], fresh)];
  return found.some(({ length }) => length) ? found : marks;
}

/** Collect the positions of words without a counterpart, recursively around the longest run. */
function compare(a, b, box, found) {
  let { a0, a1, b0, b1 } = box;
  while (a0 < a1 && b0 < b1 && a[a0] === b[b0]) [a0, b0] = [a0 + 1, b0 + 1];
  while (a0 < a1 && b0 < b1 && a[a1 - 1] === b[b1 - 1]) [a1, b1] = [a1 - 1, b1 - 1];
  const run = a0 < a1 && b0 < b1 ? longest(a, b, { a0, a1, b0, b1 }) : null;
  if (!run) {
    for (let n = a0; n < a1; n += 1) found[0].push(n);
    for (let n = b0; n < b1; n += 1) found[1].push(n);
    return;
  }
  compare(a, b, { a0, a1: run.a, b0, b1: run.b }, found);
  compare(a, b, { a0: run.a + run.size, a1, b0: run.b + run.size, b1 }, found);
}

/** The longest common run of words; null when it is only a sign or a blank. */
function longest(a, b, { a0, a1, b0, b1 }) {
  if (a1 - a0 > MOST || b1 - b0 > MOST) return null;
  let best = null;
  for (let n = a0; n < a1; n += 1)
    for (let m = b0; m < b1; m += 1) {
      let [size, length] = [0, 0];
      while (n + size < a1 && m + size < b1 && a[n + size] === b[m + size]) {
        length += a[n + size].trim().length;
        size += 1;
      }
      if (length > (best?.length ?? 1)) best = { a: n, b: m, size, length };
    }
  return best;
}

/** Positions of words as ranges of characters; ranges only a blank apart are merged. */
function spans(tokens, places) {
  const starts = [0];
  for (const token of tokens) starts.push(starts.at(-1) + token.length);
  const found = [];
  for (const n of places) {
    const last = found.at(-1);
    const between = last ? tokens.slice(last[2], n).join("") : "x";
    if (last && between.trim() === "") [last[1], last[2]] = [starts[n + 1], n + 1];
    else found.push([starts[n], starts[n + 1], n + 1]);
  }
  return found.map(([start, end]) => [start, end]);
}

const BLOCK = 24; // lines on either side of a change that is paired by similarity, at most
const CHARACTERS = 20_000; // of such a change, at most

/**
 * Which old line corresponds to which new one in a change: the n-th to the n-th when both sides
 * have equally many, else the most similar ones in order. [[old, new], …], counted from 0.
 */
export function pairs(old, fresh) {
  const least = Math.min(old.length, fresh.length);
  const simple = Array.from({ length: least }, (_, n) => [n, n]);
  const size = [...old, ...fresh].reduce((sum, line) => sum + line.length, 0);
  const large = Math.max(old.length, fresh.length) > BLOCK || size > CHARACTERS;
  if (old.length === fresh.length || large) return simple;
  const [few, many] = old.length < fresh.length ? [old, fresh] : [fresh, old];
  const words = many.map((line) => new Set(line.match(TOKENS)));
  const found = [];
  let next = 0;
  few.forEach((line, n) => {
    let best = null;
    const last = many.length - (few.length - n); // leaves a line for each that follows
    for (let m = next; m <= last; m += 1) {
      const score = likeness(line.match(TOKENS) ?? [], words[m]);
      if (score > (best?.score ?? 0)) best = { m, score };
    }
    if (!best) return;
    found.push(few === old ? [n, best.m] : [best.m, n]);
    next = best.m + 1;
  });
  return found;
}

/** The characters of shared words as a fraction of all in the longer line. */
function likeness(tokens, other) {
  const length = (all) => all.reduce((sum, token) => sum + token.trim().length, 0);
  const shared = length(tokens.filter((token) => other.has(token)));
  return shared / Math.max(length(tokens), length([...other]), 1);
}
