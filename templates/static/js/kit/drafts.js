// Drafts: typed text that was not sent is kept in this browser and restored after a reload. Each
// window also keeps its own copy, so that no window loses text when another sends or types.

import { button, h, icon, settle } from "./dom.js";
import { frame } from "./pace.js";

const PREFIX = "svc.draft.";
const KEPT = 30 * 24 * 3600 * 1000; // ms
const REST = 300; // ms after the last key
const LEFT = `${PREFIX}left:`; // drafts of closed windows that differ from the shared draft

const own = () => sessionStorage; // for this window
const shared = () => localStorage; // for the next window with the same field
/** @type {Map<string, string>} */
const unkept = new Map(); // text that neither storage accepts
/** @type {Map<string, string>} */
const shown = new Map(); // the text of each draft as this page last knew it

const LOCK = "svc.window."; // held by each page that has kept a draft, until it is closed
const PAGE = Math.random().toString(36).slice(2);
/** @type {unknown} */
let alive = null;

/** @type {Set<() => void>} */
const due = new Set(); // the save functions of fields with unsaved text

/** Save all typed text at once, before the page or the fields are left. */
export const saveDrafts = () => due.forEach((save) => save());
addEventListener("pagehide", () => {
  saveDrafts();
  for (const key of keys(own)) leave(key);
});
addEventListener("pageshow", ({ persisted }) => persisted && stay());
document.addEventListener("svc-rest", () => frame().then(begin), { once: true });
addEventListener("beforeunload", (event) => {
  saveDrafts();
  if (unkept.size) event.preventDefault(); // unkept text would be lost: the browser asks first
});
addEventListener("storage", ({ key, oldValue, newValue }) => {
  // Another window sent, discarded or continued the text of this one: it owns the draft from here.
  if (!key?.startsWith(PREFIX) || parseDraft(oldValue)?.text !== entry(own, key)?.text) return;
  if (!newValue || parseDraft(newValue)?.text.startsWith(parseDraft(oldValue)?.text ?? ""))
    put(own, key, "");
});

/**
 * Fill a text field with its draft, and save what is typed. Returns {restored, was, again(),
 * clear()}: whether there was a draft, the text it was begun on, a function to fill the field
 * again, and one to forget the draft once it is sent. `was`: for a field that is filled from a
 * file, the text of the file; it is kept with the draft.
 * @param {HTMLInputElement | HTMLTextAreaElement} textarea
 * @param {string} name
 * @param {string} [was]
 */
export function draft(textarea, name, was) {
  const look = () => {
    shown.delete(name);
    return draftOf(name);
  };
  const kept = look();
  if (kept) textarea.value = kept;
  const save = () => {
    if (due.delete(save)) keepDraft(name, textarea.value, made.was);
  };
  const later = settle(REST, save);
  textarea.addEventListener("input", () => {
    due.add(save);
    later();
  });
  textarea.addEventListener("blur", save);
  queueMicrotask(() => offer(textarea, name)); // by then the field is in its form
  const made = {
    restored: kept !== "",
    was: begunOn(name) ?? was,
    again() {
      save();
      textarea.value = look();
    },
    clear() {
      due.delete(save);
      keepDraft(name, "");
    },
  };
  return made;
}

/**
 * The text of the draft `name`; "" when there is none.
 * @param {string} name
 */
export function draftOf(name) {
  begin();
  const text = read(PREFIX + name)?.text ?? "";
  if (!shown.has(name)) shown.set(name, text);
  return text;
}

/**
 * The text of the file when the draft `name` was begun; undefined when it was not given.
 * @param {string} name
 * @returns {string | undefined}
 */
export const begunOn = (name) => read(PREFIX + name)?.was;

/**
 * The names of all drafts that begin with `prefix`: for drafts whose subject may have moved.
 * @param {string} prefix
 */
export function draftsUnder(prefix) {
  begin();
  const all = new Set([...unkept.keys(), ...keys(own), ...keys(shared)]);
  const those = [...all].filter((key) => key.startsWith(PREFIX + prefix) && read(key));
  return those.map((key) => key.slice(PREFIX.length));
}

/**
 * Keep `text` as the draft `name`; "" deletes the draft. A full or refused storage does not disturb
 * typing: a bar says how long the text is kept. `was`: the text on which the draft was begun.
 * @param {string} name
 * @param {string} text
 * @param {string} [was]
 */
export function keepDraft(name, text, was) {
  begin();
  const key = PREFIX + name;
  const value = text && JSON.stringify({ text, at: Date.now(), was, by: PAGE });
  const mine = entry(own, key)?.text;
  unkept.delete(key);
  forgetAside(name, mine); // replaced by a newer text of this window
  if (!text) {
    put(own, key, "");
    // Another window's text for the same field is not deleted.
    if (entry(shared, key)?.text === (shown.get(name) ?? "")) put(shared, key, "");
    shown.delete(name);
    return;
  }
  alive ??= navigator.locks?.request(LOCK + PAGE, () => new Promise(() => {})).catch(() => {});
  const before = entry(shared, key);
  // Whether this page has shown the shared draft, which may be another window's text.
  const seen = before && (before.text === shown.get(name) || before.text === mine);
  if (before && !seen && !text.startsWith(before.text)) setAside(key, before);
  shown.set(name, text);
  const here = put(own, key, value);
  const there = put(shared, key, value);
  if (!here) {
    put(own, key, ""); // an older text must not pass for this one
    if (!there) unkept.set(key, value);
  }
  tell(there ? "" : here ? "only until this window is closed" : "only while this page is open");
}

/**
 * Leave a draft to the next window with its field; if the shared draft differs, beside that one.
 * @param {string} key
 */
function leave(key) {
  const mine = entry(own, key);
  if (!mine) return;
  const theirs = entry(shared, key);
  forgetAside(key.slice(PREFIX.length), mine.text);
  if (!theirs || theirs.text === mine.text)
    put(shared, key, JSON.stringify({ ...mine, left: true }));
  else setAside(key, { ...mine, left: true });
}

/**
 * Keep a text beside the shared draft. The text of a window that may still be open names its page
 * (`by`), because a window can also end without notice, as in a crash.
 * @param {string} key
 * @param {Kept} one
 */
function setAside(key, { text, at, was, by, left }) {
  const aside = `${LEFT}${key.slice(PREFIX.length)}:${at}`;
  put(shared, aside, JSON.stringify({ text, at, was, by: left ? undefined : by }));
  return { key: aside, text, was };
}

/**
 * @param {string} name
 * @param {string | undefined} text
 */
function forgetAside(name, text) {
  if (text) for (const one of leftOf(name)) if (one.text === text) put(shared, one.key, "");
}

let begun = false;

/**
 * Take over and clean up the drafts, once: before the first field, or after the first screen if
 * that has no field, because the first access to a storage blocks the page.
 */
function begin() {
  if (begun) return;
  begun = true;
  stay();
  for (const store of [own, shared])
    for (const key of keys(store)) if (!entry(store, key)) put(store, key, "");
}

/** Take back the drafts that this window left: it was reloaded, or the user came back to it. */
function stay() {
  for (const key of keys(own)) {
    const mine = entry(own, key);
    const there = entry(shared, key);
    if (there?.left) {
      if (there.text !== mine?.text) setAside(key, there); // left by a window that was closed since
      put(shared, key, own().getItem(key));
    }
    forgetAside(key.slice(PREFIX.length), mine?.text);
  }
}

/**
 * @param {string} name
 * @returns {{key: string, text: string, was?: string, by?: string}[]}
 */
function leftOf(name) {
  const begin = `${LEFT}${name}:`;
  return keys(shared)
    .filter((key) => key.startsWith(begin) && /^\d+$/.test(key.slice(begin.length)))
    .map((key) => ({ key, text: "", ...entry(shared, key) }));
}

/**
 * Offer, below the field, the text typed there in windows that are closed.
 * @param {HTMLInputElement | HTMLTextAreaElement} box
 * @param {string} name
 */
function offer(box, name) {
  if (!box.parentNode) return; // not in the page
  const gap = box.tagName === "TEXTAREA" ? "\n\n" : " ";
  const take = (/** @type {string} */ text) => {
    box.value = box.value.trim() ? `${box.value}${gap}${text}` : text;
    box.dispatchEvent(new Event("input", { bubbles: true }));
  };
  offerLeft(box, name, take, (text) => text);
}

/**
 * Offer, after `place`, the drafts `name` of closed windows, for a form of several fields.
 * `take(text, was)` fills one in and returns {text, was} of what it replaced, which is offered in
 * turn; `words(text)` describes a draft in one line.
 * @param {HTMLElement} place
 * @param {string} name
 * @param {(text: string, was?: string) => {text: string, was?: string} | null | void} take
 * @param {(text: string) => string} words
 */
export function offerLeft(place, name, take, words) {
  /** @param {{key: string, text: string, was?: string}} one */
  const show = ({ key, text, was }) => {
    const forget = () => {
      put(shared, key, "");
      node.remove();
      place.focus();
    };
    const swap = () => {
      const before = take(text, was);
      if (before) show(setAside(PREFIX + name, { ...before, at: Date.now() }));
      forget();
    };
    const said = words(text);
    const node = h(
      "div",
      { class: "hint line wrap", role: "group", "aria-label": "Text of a window that was closed" },
      h(
        "span",
        { class: "grow clamp wrap-anywhere", title: said },
        `Typed in a window that was closed: ${said}`,
      ),
      button("Put it here", { kind: "s", onclick: swap }),
      button("Forget it", { kind: "ghost s", onclick: forget }),
    );
    place.after(node);
  };
  begin();
  for (const one of leftOf(name))
    if (!one.by) show(one);
    else isGone(one.by).then((gone) => gone && place.parentNode && show(one));
}

/**
 * Whether the page is closed; false where locks cannot be queried.
 * @param {string} page
 */
async function isGone(page) {
  const { held } = (await navigator.locks?.query().catch(() => null)) ?? {};
  return Boolean(held) && !held?.some(({ name }) => name === LOCK + page);
}

/** @typedef {() => Storage} Store */
/** @typedef {{text: string, at: number, was?: string, by?: string, left?: boolean}} Kept */

/** @param {string} key */
const read = (key) => parseDraft(unkept.get(key)) ?? entry(own, key) ?? entry(shared, key);

/**
 * @param {Store} store
 * @param {string} key
 */
function entry(store, key) {
  try {
    return parseDraft(store().getItem(key));
  } catch {
    return null;
  }
}

/**
 * @param {string | null | undefined} value
 * @returns {Kept | null}
 */
function parseDraft(value) {
  if (!value) return null; // most fields: an exception would cost more than the rest
  try {
    const { text, at, left, was, by } = JSON.parse(value);
    return typeof text === "string" && Date.now() - at < KEPT ? { text, at, left, was, by } : null;
  } catch {
    return null;
  }
}

/**
 * Set or delete a key; whether the storage accepted that.
 * @param {Store} store
 * @param {string} key
 * @param {string | null} value
 */
function put(store, key, value) {
  try {
    if (value) store().setItem(key, value);
    else store().removeItem(key);
    return true;
  } catch {
    return false;
  }
}

/** @param {Store} store */
function keys(store) {
  try {
    return Object.keys(store()).filter((key) => key.startsWith(PREFIX));
  } catch {
    return [];
  }
}

/** @type {HTMLElement | null} */
let bar = null;
let told = "";

/**
 * Show how long typed text is kept; "" when it is kept as usual.
 * @param {string} words
 */
function tell(words) {
  if (words === told) return;
  told = words;
  bar?.remove();
  if (!words) return;
  bar = h(
    "div",
    { class: "bar warn" },
    icon("alert"),
    h(
      "span",
      { class: "grow" },
      `This browser has no room for drafts: what you type and do not send is kept ${words}.`,
    ),
    button("", {
      icon: "x",
      kind: "ghost s only",
      "aria-label": "Close this message",
      onclick: () => bar?.remove(),
    }),
  );
  document.getElementById("bars")?.append(bar);
}
