// Elements that show blanks, and invisible characters that can change the meaning of a line. The
// variation selectors and joiners of emoji, and the joiners and non-joiners of scripts that need
// them, are legitimate; every other default-ignorable character is shown.

// Scripts with joiners.
const SCRIPTS = "Arab Syrc Deva Beng Guru Gujr Orya Taml Telu Knda Mlym Sinh".split(" ");
const LETTER = `[${SCRIPTS.map((name) => `\\p{Script=${name}}`).join("")}]`;
const MEANT = [
  /(?<=\p{Extended_Pictographic})\ufe0f/u,
  /(?<=[\d#*])\ufe0f(?=\u20e3)/u, // a keycap
  /(?<=[\p{Extended_Pictographic}\p{Emoji_Modifier}\ufe0f])\u200d(?=\p{Extended_Pictographic})/u,
  new RegExp(`(?<=${LETTER})[\\u200c\\u200d](?=${LETTER})`, "u"),
].map(({ source }) => source);
const UNSEEN = "\\p{Default_Ignorable_Code_Point}";
const IGNORED = new RegExp(`(?=${UNSEEN})(?!${MEANT.join("|")})${UNSEEN}`, "u");
const CONTROLS = /(?![\t-\r])\p{Cc}|[\u2028\u2029]/u; // line ends included
const DECEIVER = `${IGNORED.source}|${CONTROLS.source}`;
const HIDDEN = new RegExp(`${DECEIVER}|\\r(?=[^])`, "u"); // or a carriage return within a line
const DECEIVERS = new RegExp(`${DECEIVER}|\\r`, "gu");
const BLANKS = /[\t\r\u00a0\u2000-\u200a\u202f\u3000\f\v]| +/u;
const BOTH = new RegExp(`${BLANKS.source}|${HIDDEN.source}`, "gu");
const TURNING = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/; // change the text direction

/** Whether a text contains a deceptive invisible character. */
export const deceives = (text) => HIDDEN.test(text);

/**
 * The pieces of a text: invisible characters and, if `spaces`, blanks are elements. For a part of a
 * line, `odd` says whether the whole line has an invisible character: a carriage return at the end
 * of the part may be within the line.
 */
export function signs(text, spaces = false, odd = deceives(text)) {
  if (!spaces && !odd) return [text];
  const found = [];
  let from = 0;
  for (const { 0: sign, index } of text.matchAll(spaces ? BOTH : DECEIVERS)) {
    if (index > from) found.push(text.slice(from, index));
    found.push(signNode(sign));
    from = index + sign.length;
  }
  if (from < text.length || !odd) found.push(text.slice(from));
  return found;
}

function signNode(sign) {
  const span = document.createElement("span");
  const plain = sign === "\t" || sign[0] === " ";
  span.className = sign === "\t" ? "tab" : plain ? "blank" : "odd";
  if (!TURNING.test(sign)) span.textContent = sign; // it would take effect
  if (plain) span.dataset.blank = sign === "\t" ? "→" : "·".repeat(sign.length);
  else {
    const code = sign.codePointAt(0).toString(16).toUpperCase().padStart(4, "0");
    span.dataset.code = sign === "\r" ? "CR" : `U+${code}`;
    span.title = sign === "\r" ? "Carriage return" : `Invisible character U+${code}`;
  }
  return span;
}
