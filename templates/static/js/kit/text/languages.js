// The table of languages for tokens.js: their words, comments, strings and keys, by the extension
// of a file or the name of a code block.

/** @typedef {[from: string, to: string, lines?: boolean]} Quotes */
/**
 * @typedef {{comments: string[], blocks: [from: string, to: string][], strings: Quotes[],
 *   words: Set<string>, keys?: RegExp, blank?: boolean, apart?: boolean, folded?: boolean}} Language
 */

/** @param {string} text */
const split = (text) => new Set(text.split(/\s+/));
/** @type {Quotes[]} */
const PLAIN = [
  ['"', '"'],
  ["'", "'"],
];
/** @type {Quotes[]} */
const TICKS = [...PLAIN, ["`", "`", true]];
/** @typedef {Omit<Language, "words">} Grammar */

/** @type {Grammar} */
const C = { comments: ["//"], blocks: [["/*", "*/"]], strings: PLAIN };
/** @type {Grammar} */
const HASH = { comments: ["#"], blocks: [], strings: PLAIN, blank: true };

/** @type {Language} */
const PYTHON = {
  comments: ["#"],
  blocks: [],
  strings: [['"""', '"""', true], ["'''", "'''", true], ...PLAIN],
  words: split(
    "and as assert async await break class continue def del elif else except False finally for from global if import in is lambda match case None nonlocal not or pass raise return self True try while with yield",
  ),
};
/** @type {Language} */
const SCRIPT = {
  ...C,
  strings: TICKS,
  words: split(
    "abstract any as async await boolean break case catch class const continue debugger declare default delete do else enum export extends false finally for from function get if implements import in instanceof interface keyof let namespace never new null number of private protected public readonly return satisfies set static string super switch this throw true try type typeof undefined unknown var void while with yield",
  ),
};
/** @type {Language} */
const FAMILY = {
  ...C,
  words: split(
    "alignas auto bool break case catch char class const constexpr const_cast continue default delete do double dynamic_cast else enum explicit export extern false final float for friend goto if inline int long mutable namespace new noexcept nullptr NULL operator override private protected public register reinterpret_cast return short signed sizeof static static_cast struct switch template this throw true try typedef typename union unsigned using virtual void volatile wchar_t while #include #define #ifdef #ifndef #if #else #endif",
  ),
};
/** @type {Language} */
const JAVA = {
  ...C,
  words: split(
    "abstract as assert async await base bool boolean break byte case catch char class const continue data decimal default delegate do double else enum event extends false final finally float for foreach fun get if implements import in init instanceof int interface internal is it lazy let lock long module namespace native new null object open operator out override package private protected public readonly record ref return sealed set short static string String strictfp struct super suspend switch synchronized this throw throws transient true try typeof using val var virtual void volatile when where while yield",
  ),
};
/** @type {Language} */
const GO = {
  ...C,
  strings: TICKS,
  words: split(
    "any bool break byte case chan const continue default defer else error fallthrough false float64 for func go goto if import int int64 interface iota make map nil package range return rune select string struct switch true type uint var",
  ),
};
/** @type {Language} */
const RUST = {
  ...C,
  strings: [['"', '"', true]],
  words: split(
    "as async await bool break const continue crate dyn else enum extern false fn for if impl in let loop match mod move mut None Ok Err Option pub ref Result return Self self Some static str String struct super trait true type u8 u16 u32 u64 usize i32 i64 unsafe use where while",
  ),
};
/** @type {Language} */
const SWIFT = {
  ...C,
  strings: [
    ['"""', '"""', true],
    ['"', '"'],
  ],
  words: split(
    "actor as associatedtype async await break case catch class continue default defer deinit do else enum extension fallthrough false fileprivate final for func guard if import in init inout internal is lazy let mutating nil open operator override private protocol public repeat rethrows return self Self static struct subscript super switch throw throws true try typealias var weak where while",
  ),
};
/** @type {Language} */
const RUBY = {
  ...HASH,
  words: split(
    "alias and begin break case class def defined? do else elsif end ensure extend false for if in include module next nil not or private protected public raise redo require rescue retry return self super then true undef unless until when while yield",
  ),
};
/** @type {Language} */
const SHELL = {
  ...HASH,
  strings: [
    ['"', '"', true],
    ["'", "'", true],
  ],
  words: split(
    "alias break case cd continue do done echo elif else esac eval exec exit export fi for function if in local printf read readonly return select set shift source then trap unset until while FROM RUN CMD COPY ADD ENV ARG WORKDIR EXPOSE ENTRYPOINT USER VOLUME",
  ),
};
/** @type {Language} */
const PHP = {
  ...JAVA,
  comments: ["//", "#"],
  words: new Set([
    ...JAVA.words,
    ...split(
      "echo function fn use trait array elseif endif endforeach include require isset unset global match",
    ),
  ]),
};
/** @type {Language} */
const SQL = {
  comments: ["--"],
  blocks: [["/*", "*/"]],
  strings: PLAIN,
  folded: true,
  words: split(
    "add all alter and as asc begin between bigint boolean by cascade case char check column commit constraint create cross database date default delete desc distinct drop else end except exists false foreign from full function grant group having if in index inner insert int integer intersect into is join key left like limit not null numeric offset on or order outer primary references returning right rollback select set table text then timestamp to trigger true union unique update using values varchar view when where with",
  ),
};
/** @type {Language} */
const STYLE = {
  comments: [],
  blocks: [["/*", "*/"]],
  strings: PLAIN,
  keys: /(?=[\w-])(?<=^\s*|[{;]\s*)[\w-]{1,80}(?=\s{0,3}:(?:\s|$))/y,
  words: split(
    "@media @layer @import @font @keyframes @supports @container @property @page !important from to and not only",
  ),
};
/** @type {Language} */
const MARKUP = {
  comments: [],
  blocks: [["<!--", "-->"]],
  strings: PLAIN,
  apart: true,
  keys: /<\/?[A-Za-z][\w:.-]{0,80}|\/?>/y,
  words: split(""),
};
/** @type {Language} */
const DATA = {
  ...HASH,
  apart: true,
  keys: /(?=[\w"'])(?<=^[ \t-]*)(?:[\w.-]{1,200}|"[^"]{1,200}"|'[^']{1,200}')(?=\s{0,20}[:=](?:\s|$))/y,
  words: split("true false null yes no on off True False None"),
};
/** @type {Language} */
const JSON = {
  ...C,
  keys: /"(?:[^"\\]|\\.){0,2000}"(?=\s{0,20}:)/y,
  words: split("true false null"),
};
/** @type {Language} */
const LUA = {
  comments: ["--"],
  blocks: [["--[[", "]]"]],
  strings: PLAIN,
  words: split(
    "and break do else elseif end false for function goto if in local nil not or repeat return then true until while",
  ),
};
/** @type {Language} */
const CONSOLE = { ...HASH, strings: [], keys: /^[$>](?= )/y, words: split("") };
/** @type {Language} */
const MAKE = {
  ...HASH,
  words: split("ifeq ifneq ifdef ifndef else endif include define endef export override"),
};

/** @type {[Language, string][]} */
const NAMES = [
  [PYTHON, "py pyi pyx python python3"],
  [SCRIPT, "js mjs cjs jsx ts mts tsx vue svelte javascript typescript"],
  [FAMILY, "c h cc cpp cxx hpp hh m mm ino"],
  [JAVA, "java kt kts cs scala groovy gradle dart proto kotlin csharp"],
  [GO, "go golang"],
  [RUST, "rs rust"],
  [SWIFT, "swift"],
  [RUBY, "rb rake ex exs ruby gemfile rakefile"],
  [PHP, "php"],
  [LUA, "lua"],
  [SHELL, "sh bash zsh fish shell dockerfile containerfile"],
  [CONSOLE, "console"],
  [SQL, "sql"],
  [STYLE, "css"],
  [{ ...STYLE, comments: ["//"] }, "scss less"],
  [MARKUP, "html htm xml svg django"],
  [DATA, "yaml yml toml ini cfg conf env properties tf"],
  [JSON, "json json5 jsonc"],
  [MAKE, "mk make makefile"],
];
/** @type {Map<string, Language>} */
const LANGUAGES = new Map();
for (const [language, names] of NAMES)
  for (const name of names.split(" ")) LANGUAGES.set(name, language);

/**
 * The language of a file's path, or of a name; null for plain text.
 * @param {string | null} [name]
 */
export function languageOf(name) {
  const last = (name ?? "").split("/").slice(-1)[0].toLowerCase();
  return LANGUAGES.get(last.slice(last.lastIndexOf(".") + 1)) ?? null;
}
