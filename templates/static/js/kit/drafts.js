// What someone typed and has not sent: kept in this browser, back after a reload. Each window keeps
// its own as well, so that one that sends or types at the same box takes nothing from another.

import { button, h, icon, settle } from "./dom.js";
import { frame } from "./pace.js";

const PREFIX = "svc.draft.";
const KEPT = 30 * 24 * 3600 * 1000; // ms
const REST = 300; // ms after the last key
const LEFT = `${PREFIX}left:`; // of a window that was closed while another had other text there

const own = () => sessionStorage; // of this window
const shared = () => localStorage; // for the window that opens it next
/** @type {Map<string, string>} */
const unkept = new Map(); // what neither takes
/** @type {Map<string, string>} */
const shown = new Map(); // the text of each draft as this page last knew it

const LOCK = "svc.window."; // held by each page that has kept something, until it is gone
const PAGE = Math.random().toString(36).slice(2);
/** @type {unknown} */
let alive = null;

/** @type {Set<() => void>} */
const due = new Set(); // of every field that holds what is not saved yet

/** Save all that was typed by now: what holds it is left. */
export const saveDrafts = () => due.forEach((save) => save());
addEventListener("pagehide", () => {
  saveDrafts();
  for (const key of keys(own)) leave(key);
});
addEventListener("pageshow", ({ persisted }) => persisted && stay());
document.addEventListener("svc-rest", () => frame().then(begin), { once: true });
addEventListener("beforeunload", (event) => {
  saveDrafts();
  if (unkept.size) event.preventDefault(); // the browser asks: they go with the page
});
addEventListener("storage", ({ key, oldValue, newValue }) => {
  // Another window sent, discarded or went on with what this one wrote: from now on it is theirs.
  if (!key?.startsWith(PREFIX) || parsed(oldValue)?.text !== entry(own, key)?.text) return;
  if (!newValue || parsed(newValue)?.text.startsWith(parsed(oldValue)?.text ?? ""))
    put(own, key, "");
});

/**
 * Fill a text field with its draft and save what is typed. Returns {restored, was, again(), clear()}:
 * whether there was one, what it was begun on, to fill the field anew, and to forget it once it is
 * sent. `was`: what the field says that is filled from a file; another one is kept with what follows.
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
  queueMicrotask(() => offer(textarea, name)); // it stands in its form by then
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
 * The draft of that name; "" when there is none.
 * @param {string} name
 */
export function draftOf(name) {
  begin();
  const text = read(PREFIX + name)?.text ?? "";
  if (!shown.has(name)) shown.set(name, text);
  return text;
}

/**
 * What the file said when the draft of that name was begun; undefined when nobody told.
 * @param {string} name
 * @returns {string | undefined}
 */
export const begunOn = (name) => read(PREFIX + name)?.was;

/**
 * The names of all drafts that begin so: for text about what may stand elsewhere by now.
 * @param {string} prefix
 */
export function draftsUnder(prefix) {
  begin();
  const all = new Set([...unkept.keys(), ...keys(own), ...keys(shared)]);
  const those = [...all].filter((key) => key.startsWith(PREFIX + prefix) && read(key));
  return those.map((key) => key.slice(PREFIX.length));
}

/**
 * Keep it as the draft of that name, "" to forget it. A full or refused store never stands in the
 * way of typing: the page says how long the text is kept then. `was`: what it was begun on.
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
  forgetAside(name, mine); // a newer text of this window takes its place
  if (!text) {
    put(own, key, "");
    // Another window's text at the same box is not what is forgotten.
    if (entry(shared, key)?.text === (shown.get(name) ?? "")) put(shared, key, "");
    shown.delete(name);
    return;
  }
  alive ??= navigator.locks?.request(LOCK + PAGE, () => new Promise(() => {})).catch(() => {});
  const before = entry(shared, key);
  // Of another window, and nobody saw it here.
  const seen = before && (before.text === shown.get(name) || before.text === mine);
  if (before && !seen && !text.startsWith(before.text)) setAside(key, before);
  shown.set(name, text);
  const here = put(own, key, value);
  const there = put(shared, key, value);
  if (!here) {
    put(own, key, ""); // an older text would be taken for it
    if (!there) unkept.set(key, value);
  }
  tell(there ? "" : here ? "only until this window is closed" : "only while this page is open");
}

/**
 * For the window that opens it next; where another one has other text there, beside that.
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
 * Beside what is kept there. That of a window that is not known to be closed names it: it may be gone
 * without a word, as after a crash.
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
 * Before the first box, or behind the first screen where that has none: at the first look into a
 * store, the page waits for the browser.
 */
function begin() {
  if (begun) return;
  begun = true;
  stay();
  for (const store of [own, shared])
    for (const key of keys(store)) if (!entry(store, key)) put(store, key, "");
}

/** What this window left it has still: it was reloaded, or somebody came back to it. */
function stay() {
  for (const key of keys(own)) {
    const mine = entry(own, key);
    const there = entry(shared, key);
    if (there?.left) {
      if (there.text !== mine?.text) setAside(key, there); // of a window that was closed since
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
 * Below the box what was typed there in windows that are closed.
 * @param {HTMLInputElement | HTMLTextAreaElement} box
 * @param {string} name
 */
function offer(box, name) {
  if (!box.parentNode) return; // nobody sees it
  const gap = box.tagName === "TEXTAREA" ? "\n\n" : " ";
  const take = (/** @type {string} */ text) => {
    box.value = box.value.trim() ? `${box.value}${gap}${text}` : text;
    box.dispatchEvent(new Event("input", { bubbles: true }));
  };
  offerLeft(box, name, take, (text) => text);
}

/**
 * Behind `place` what was kept under that name in windows that are closed, for a form of several
 * fields. `take(text, was)` puts it there and returns {text, was} of what had to give way, which is
 * offered in its turn; `words(text)` says it in a line.
 * @param {HTMLElement} place
 * @param {string} name
 * @param {(text: string, was?: string) => {text: string, was?: string} | null | void} take
 * @param {(text: string) => string} words
 */
export function offerLeft(place, name, take, words) {
  /** @param {{key: string, text: string, was?: string}} one */
  const show = ({ key, text, was }) => {
    const gone = () => {
      put(shared, key, "");
      node.remove();
      place.focus();
    };
    const swap = () => {
      const before = take(text, was);
      if (before) show(setAside(PREFIX + name, { ...before, at: Date.now() }));
      gone();
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
      button("Forget it", { kind: "ghost s", onclick: gone }),
    );
    place.after(node);
  };
  begin();
  for (const one of leftOf(name))
    if (!one.by) show(one);
    else isGone(one.by).then((gone) => gone && place.parentNode && show(one));
}

/**
 * Whether that page is no more; one that cannot be asked for is taken to be there.
 * @param {string} page
 */
async function isGone(page) {
  const { held } = (await navigator.locks?.query().catch(() => null)) ?? {};
  return Boolean(held) && !held?.some(({ name }) => name === LOCK + page);
}

/** @typedef {() => Storage} Store */
/** @typedef {{text: string, at: number, was?: string, by?: string, left?: boolean}} Kept */

/** @param {string} key */
const read = (key) => parsed(unkept.get(key)) ?? entry(own, key) ?? entry(shared, key);

/**
 * @param {Store} store
 * @param {string} key
 */
function entry(store, key) {
  try {
    return parsed(store().getItem(key));
  } catch {
    return null;
  }
}

/**
 * @param {string | null | undefined} value
 * @returns {Kept | null}
 */
function parsed(value) {
  if (!value) return null; // most boxes: an error would cost more than all else
  try {
    const { text, at, left, was, by } = JSON.parse(value);
    return typeof text === "string" && Date.now() - at < KEPT ? { text, at, left, was, by } : null;
  } catch {
    return null;
  }
}

/**
 * Whether the store did it.
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
 * Say how long what is typed is kept, "" when it is kept as ever.
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
