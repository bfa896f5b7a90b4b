// The words, strings, comments and numbers of a text, line by line, without the DOM, so that a
// worker can use it. Anything unknown stays plain.

/** The class of each kind of token, by its number. */
export const CLASSES = ["", "k", "q", "c", "num"];

const [WORD, STRING, COMMENT, NUMBER] = [1, 2, 3, 4];
const LONGEST = 2000; // characters of a line that are examined
const NUMERAL = /0[xXbBoO][\da-fA-F_]+|\d[\d_]*(?:\.\d[\d_]*)?(?:[eE][+-]?\d+)?\w*/y;
const NAME = /[@#!]?[\p{L}_$][\p{L}\p{N}_$]*/uy;

/** @typedef {import("./languages.js").Language} Language */
/** @typedef {{from: string, to: string | null, kind: number, lines?: boolean, escapes?: boolean}} Open */

/**
 * tokensOf(text, languageOf("a.py")) → per line [start, end, kind, …], without overlaps. A token
 * that a line leaves open (a comment, a long string) continues in the next.
 * @param {string} text
 * @param {Language | null} language
 */
export function tokensOf(text, language) {
  if (!text || !language) return [];
  /** @type {Open | null} */
  let within = null;
  return text.split("\n").map((line) => {
    /** @type {number[]} */
    const tokens = [];
    within = tokenise(line.slice(0, LONGEST), language, within, tokens);
    return tokens;
  });
}

/**
 * @param {string} line
 * @param {Language} language
 * @param {Open | null} within
 * @param {number[]} tokens
 */
function tokenise(line, language, within, tokens) {
  let at = 0;
  while (at < line.length) {
    if (within) {
      const end = findEnd(line, at, within);
      add(tokens, at, end ?? line.length, within.kind);
      if (end === null) return within.lines ? within : null;
      [at, within] = [end, null];
      continue;
    }
    const key = findKeyEnd(line, at, language);
    const opener = key ? null : findOpener(line, at, language);
    if (key) {
      add(tokens, at, key, WORD);
      at = key;
    } else if (opener) {
      const end = findEnd(line, at + opener.from.length, opener);
      add(tokens, at, end ?? line.length, opener.kind);
      if (end === null) return opener.lines ? opener : null;
      at = end;
    } else at = word(line, at, language, tokens);
  }
  return within;
}

/**
 * The end of a key, a tag or a property that begins at `at`; 0 when none does.
 * @param {string} line
 * @param {number} at
 * @param {Language} language
 */
function findKeyEnd(line, at, { keys }) {
  if (!keys) return 0;
  keys.lastIndex = at;
  return keys.test(line) ? keys.lastIndex : 0;
}

/**
 * The comment or string that begins at `at`; null if none.
 * @param {string} line
 * @param {number} at
 * @param {Language} language
 * @returns {Open | null}
 */
function findOpener(line, at, { comments, blocks, strings, blank, apart }) {
  /** @param {string} from */
  const starts = (from) => line.startsWith(from, at);
  if (comments.some((from) => starts(from) && (!blank || at === 0 || /\s/.test(line[at - 1]))))
    return { from: "", to: null, kind: COMMENT };
  for (const [from, to] of blocks)
    if (starts(from)) return { from, to, kind: COMMENT, lines: true };
  if (apart && at && /[\p{L}\p{N}]/u.test(line[at - 1])) return null; // the apostrophe in "don't"
  for (const [from, to, lines] of strings)
    if (starts(from)) return { from, to, kind: STRING, lines, escapes: true };
  return null;
}

/**
 * The end of an open comment or string; null when it does not end in this line.
 * @param {string} line
 * @param {number} at
 * @param {Open} open
 */
function findEnd(line, at, { to, escapes }) {
  if (to === null) return line.length;
  for (let n = at; n < line.length; n += 1) {
    if (escapes && line[n] === "\\") n += 1;
    else if (line.startsWith(to, n)) return n + to.length;
  }
  return null;
}

/**
 * @param {string} line
 * @param {number} at
 * @param {Language} language
 * @param {number[]} tokens
 */
function word(line, at, language, tokens) {
  NUMERAL.lastIndex = at;
  if (NUMERAL.test(line)) {
    add(tokens, at, NUMERAL.lastIndex, NUMBER);
    return NUMERAL.lastIndex;
  }
  NAME.lastIndex = at;
  const [name] = NAME.exec(line) ?? [];
  if (!name) return at + 1;
  const said = language.folded ? name.toLowerCase() : name;
  if (language.words.has(said)) add(tokens, at, at + name.length, WORD);
  else if (/[@#!]/.test(name[0])) return at + 1;
  return at + name.length;
}

/**
 * @param {number[]} tokens
 * @param {number} start
 * @param {number} end
 * @param {number} kind
 */
function add(tokens, start, end, kind) {
  if (end > start) tokens.push(start, end, kind);
}
