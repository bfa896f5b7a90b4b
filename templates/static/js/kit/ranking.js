// What the palette shows for the words someone typed, and in which order.

/** @typedef {{label: string, kind: string, part: string, url: string, hint: string}} Place */
/**
 * @typedef {{label: string, act: () => unknown, icon: string, hint: string, key: string,
 *   group: string}} Action
 */
/** @typedef {Partial<Place> & Partial<Action>} Entry one of both */

export const PAGE = "This page";
/** @type {Record<string, string>} */
const PARTS = { main: "Workspace", review: "Review", dashboard: "Apps" };
const SHOWN = 12; // actions at most

/**
 * What is shown, by groups: recent ones first when nothing is typed, else what the page can do;
 * then the places of each part, the part of the best one first, and what can be done anywhere.
 * `answered`: whether `places` is the answer to these words.
 * @param {{words: string, kept: Place[], actions: Action[], places: Place[], answered: boolean}} what
 * @returns {[group: string, entries: Entry[]][]}
 */
export function ranked({ words, kept, actions, places, answered }) {
  const shown = words ? [] : kept;
  const known = new Set(shown.map(({ url }) => url));
  /** @type {Map<string, Entry[]>} */
  const groups = new Map([["Recent", shown]]);
  /** @type {(group: string, entry: Entry) => void} */
  const add = (group, entry) => groups.set(group, [...(groups.get(group) ?? []), entry]);
  const fitting = actions.filter(({ label, hint }) => fits(`${label} ${hint}`, words));
  const own = fitting.filter(({ group }) => group === PAGE);
  own.slice(0, SHOWN).forEach((entry) => add(PAGE, entry));
  for (const place of places) {
    // Until the answer to these words is here, what the one before it holds may fit.
    const fresh = answered || fits(`${place.label} ${place.hint}`, words);
    if (fresh && !known.has(place.url)) add(PARTS[place.part] ?? place.part, place);
  }
  fitting.filter(({ group }) => group !== PAGE).forEach((entry) => add(entry.group, entry));
  return [...groups].filter(([, entries]) => entries.length);
}

/**
 * Whether a word of the text begins with each of these, or holds it when it is longer than two.
 * @param {string} text
 * @param {string} words
 */
function fits(text, words) {
  const low = text.toLowerCase();
  return words
    .toLowerCase()
    .split(/\s+/)
    .every((word) => ` ${low}`.includes(` ${word}`) || (word.length > 2 && low.includes(word)));
}
