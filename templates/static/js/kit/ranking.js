// Which entries the palette shows for the typed words, and in which order.

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
 * The entries by group: recent places if nothing is typed; the actions of the page; the places of
 * each part, the part of the best place first; and the actions of every page.
 * `answered`: whether `places` is the answer to these words.
 * @param {{words: string, kept: Place[], actions: Action[], places: Place[], answered: boolean}} what
 * @returns {[group: string, entries: Entry[]][]}
 */
export function rankEntries({ words, kept, actions, places, answered }) {
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
    // Until the answer to these words arrives, places of the previous answer may match.
    const fresh = answered || fits(`${place.label} ${place.hint}`, words);
    if (fresh && !known.has(place.url)) add(PARTS[place.part] ?? place.part, place);
  }
  fitting.filter(({ group }) => group !== PAGE).forEach((entry) => add(entry.group, entry));
  return [...groups].filter(([, entries]) => entries.length);
}

/**
 * Whether each of `words` begins a word of the text or, from three characters on, occurs in it.
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
