// Quiet highlighting: comments, strings and words of the language, nothing more. One pass over the
// text; a language that is not known, and text that is very long, stay as they are.

import { h } from "./dom.js";

const MOST = 60_000; // characters
const STRINGS = String.raw`"(?:[^"\\\n]|\\.){0,2000}"|'(?:[^'\\\n]|\\.){0,2000}'`;
const HASH = String.raw`(?<![\w$&])#.*`;
const SLASHES = String.raw`\/\/.*|\/\*[^]{0,4000}?\*\/`;
const C_WORDS =
  "break case const continue default do else enum for if return switch while void int true false null";

const language = (note, words, strings = STRINGS) =>
  new RegExp(
    `(?<c>${note})|(?<q>${strings})|\\b(?<k>${words.trim().replace(/\s+/g, "|")})\\b`,
    "g",
  );

const PYTHON = language(
  HASH,
  `and as assert async await break case class continue def del elif else except finally for from
   global if import in is lambda match nonlocal not or pass raise return try while with yield
   None True False self`,
  String.raw`"""[^]{0,4000}?"""|'''[^]{0,4000}?'''|${STRINGS}`,
);
const SCRIPT = language(
  SLASHES,
  `${C_WORDS} async await catch class delete export extends finally from function import in
   instanceof interface let new of private public static super this throw try type typeof undefined
   var yield`,
  String.raw`${STRINGS}|${"`"}(?:[^${"`"}\\]|\\.){0,2000}${"`"}`,
);
const SHELL = language(
  HASH,
  `if then else elif fi for in do done while case esac function return exit export local set cd sudo`,
);
const RUST = language(
  SLASHES,
  `${C_WORDS} as async await crate dyn extern fn impl in let loop match mod move mut pub ref self Self
   static struct super trait type unsafe use where func package import var range defer go chan map
   interface struct nil string bool error`,
  String.raw`"(?:[^"\\\n]|\\.){0,2000}"|${"`"}[^${"`"}]{0,2000}${"`"}`,
);
const C_LIKE = language(
  SLASHES,
  `${C_WORDS} auto bool boolean byte char class catch double extends final float implements import
   include interface long namespace new override package private protected public short signed
   static struct super template this throw throws try typedef union unsigned using virtual`,
);
const SQL = new RegExp(
  language(
    String.raw`--.*`,
    `select from where and or not in is null insert into values update set delete create table index
     view alter drop join left right inner outer on group by order limit offset as distinct union all
     case when then else end begin commit primary key references default unique with`,
  ).source,
  "gi",
);
const YAML = new RegExp(
  String.raw`(?<c>(?<=^|\s)#.*)|(?<k>^[ \t-]*[\w."'-]{1,200}(?=:(?:\s|$)))|(?<q>${STRINGS})`,
  "gm",
);
const JSON_ = new RegExp(
  String.raw`(?<k>"(?:[^"\\\n]|\\.){0,2000}"(?=\s{0,20}:))|(?<q>"(?:[^"\\\n]|\\.){0,2000}")|(?<c>\/\/.*)`,
  "g",
);
const MARKUP = /(?<c><!--[^]{0,4000}?-->)|(?<k><\/?[\w:-]{1,80}|\/?>)|(?<q>"[^"\n]{0,2000}")/g;
const CSS = new RegExp(
  String.raw`(?<c>\/\*[^]{0,4000}?\*\/)|(?<q>${STRINGS})|(?<k>@[\w-]{1,60}|--[\w-]{1,80}|[\w-]{1,60}(?=\s{0,3}:\s))`,
  "g",
);
const CONSOLE = /(?<k>^[$>#] )|(?<c>^# .*)/gm;

const LANGUAGES = {
  py: PYTHON,
  python: PYTHON,
  python3: PYTHON,
  js: SCRIPT,
  javascript: SCRIPT,
  mjs: SCRIPT,
  jsx: SCRIPT,
  ts: SCRIPT,
  typescript: SCRIPT,
  tsx: SCRIPT,
  sh: SHELL,
  bash: SHELL,
  zsh: SHELL,
  shell: SHELL,
  dockerfile: SHELL,
  make: SHELL,
  makefile: SHELL,
  rs: RUST,
  rust: RUST,
  go: RUST,
  c: C_LIKE,
  h: C_LIKE,
  cpp: C_LIKE,
  java: C_LIKE,
  kotlin: C_LIKE,
  cs: C_LIKE,
  swift: C_LIKE,
  php: C_LIKE,
  sql: SQL,
  yaml: YAML,
  yml: YAML,
  toml: YAML,
  ini: YAML,
  json: JSON_,
  jsonc: JSON_,
  html: MARKUP,
  xml: MARKUP,
  svg: MARKUP,
  django: MARKUP,
  css: CSS,
  scss: CSS,
  console: CONSOLE,
};
const CHANGES = { "+": "add", "-": "del", "@": "at" };

/** highlight("x = 1", "python") → nodes and texts. */
export function highlight(text, name = "") {
  const word = name.toLowerCase();
  if (text.length > MOST) return [text];
  if (word === "diff" || word === "patch") return changes(text);
  const pattern = Object.hasOwn(LANGUAGES, word) && LANGUAGES[word];
  if (!pattern) return [text];
  const nodes = [];
  let end = 0;
  for (const found of text.matchAll(pattern)) {
    const kind = Object.keys(found.groups).find((group) => found.groups[group] !== undefined);
    nodes.push(text.slice(end, found.index), h("span", { class: kind }, found[0]));
    end = found.index + found[0].length;
  }
  return [...nodes, text.slice(end)];
}

const changes = (text) =>
  text.split("\n").flatMap((line, n) => {
    const kind = /^(?:\+\+\+|---) /.test(line) ? "at" : CHANGES[line[0]];
    return [n ? "\n" : "", kind ? h("span", { class: kind }, line) : line];
  });

/** The language of a file by its name, as highlight() takes it. */
export const languageOf = (path) => /\.(\w+)$/.exec(path ?? "")?.[1] ?? "";
