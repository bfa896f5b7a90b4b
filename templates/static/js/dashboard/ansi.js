// Terminal output as text and coloured spans. Colours become names of the theme, so that they are
// readable in light and dark; all other control sequences are dropped.

// CSI, OSC, DCS and similar sequences, then escapes of two characters.
const SEQUENCE =
  /\x1b(?:\[([0-?]*)[ -/]*([@-~])|\][^\x07\x1b]*(?:\x07|\x1b\\|$)|[PX^_][^\x1b]*(?:\x1b\\|$)|[ -/]*[0-Z\\-~])/g;
const CONTROL = /[\x00-\x08\x0b-\x1f\x7f]/g;
const NAMES = ["black", "red", "green", "yellow", "blue", "magenta", "cyan", "white"];
/** @type {[end: number, name: string][]} */
const HUES = [
  [20, "red"],
  [70, "yellow"],
  [165, "green"],
  [200, "cyan"],
  [260, "blue"],
  [340, "magenta"],
  [360, "red"],
];
const BEGINS = { 1: "bold", 2: "dim", 3: "italic", 4: "under", 7: "inverse", 9: "struck" };
const ENDS = {
  22: ["bold", "dim"],
  23: ["italic"],
  24: ["under"],
  27: ["inverse"],
  29: ["struck"],
};

/** A pen with nothing set, as at the start of a log. */
export const PLAIN = Object.freeze({ fore: "", back: "", styles: Object.freeze([]) });

/**
 * One line as {text, spans: [{from, to, look}], pen}. `look` is class names; `pen` is what the next
 * line begins with. What a carriage return overwrites is left out.
 */
export function ansi(line, pen = PLAIN) {
  const parts = line.includes("\r") ? line.split("\r").filter(Boolean) : [line];
  let found = piece(parts[0] ?? "", pen);
  for (const part of parts.slice(1)) found = piece(part, found.pen);
  return found;
}

function piece(raw, pen) {
  if (pen === PLAIN && !raw.includes("\x1b"))
    return { text: raw.replace(CONTROL, ""), spans: [], pen };
  const spans = [];
  let text = "";
  let end = 0;
  const take = (to) => {
    const more = raw.slice(end, to).replace(CONTROL, "");
    const look = more && lookOf(pen);
    if (look) spans.push({ from: text.length, to: text.length + more.length, look });
    text += more;
  };
  for (const found of raw.matchAll(SEQUENCE)) {
    take(found.index);
    end = found.index + found[0].length;
    if (found[2] === "m") pen = penAfter(pen, found[1]);
  }
  take(raw.length);
  return { text, spans, pen };
}

/** A background colour drops the text colour: only the theme's ink is sure to be readable on it. */
const lookOf = ({ fore, back, styles }) =>
  [back ? `on-${back}` : fore && `fg-${fore}`, ...styles].filter(Boolean).join(" ");

/** The pen after the codes of one sequence, "1;31" or "38;2;255;0;0". */
function penAfter(pen, codes) {
  const left = (codes || "0").split(/[;:]/).map(Number);
  let next = pen;
  while (left.length) {
    const code = left.shift();
    if (code === 38 || code === 48)
      next = { ...next, [code === 38 ? "fore" : "back"]: readColour(left) };
    else next = simple(next, code);
  }
  return next.fore || next.back || next.styles.length ? next : PLAIN;
}

function simple(pen, code) {
  if (code === 0) return PLAIN;
  if (BEGINS[code]) return { ...pen, styles: [...new Set([...pen.styles, BEGINS[code]])] };
  if (ENDS[code])
    return { ...pen, styles: pen.styles.filter((name) => !ENDS[code].includes(name)) };
  if (code === 39) return { ...pen, fore: "" };
  if (code === 49) return { ...pen, back: "" };
  const name = NAMES[code % 10];
  const row = Math.floor(code / 10);
  if (name && (row === 3 || row === 9)) return { ...pen, fore: name };
  if (name && (row === 4 || row === 10)) return { ...pen, back: name };
  return pen;
}

/** The theme's colour nearest to one of the 256 or 16 million; "" for an unknown kind. */
function readColour(left) {
  const kind = left.shift();
  if (kind === 2) return nearest(...left.splice(0, 3));
  if (kind !== 5) return "";
  const index = left.shift();
  if (index < 16) return NAMES[index % 8];
  if (index >= 232) return index < 244 ? "black" : "white";
  const cube = index - 16;
  return nearest(
    ...[Math.floor(cube / 36), Math.floor(cube / 6) % 6, cube % 6].map((part) => part * 51),
  );
}

function nearest(red = 0, green = 0, blue = 0) {
  const most = Math.max(red, green, blue);
  const span = most - Math.min(red, green, blue);
  if (span < 40) return most < 128 ? "black" : "white";
  const sixth =
    most === red
      ? ((green - blue) / span + 6) % 6
      : most === green
        ? (blue - red) / span + 2
        : (red - green) / span + 4;
  return HUES.find(([end]) => sixth * 60 <= end)?.[1] ?? "";
}
