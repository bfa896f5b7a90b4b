// What someone typed and has not sent: kept in this browser, back after a reload.

import { settle } from "./dom.js";

const PREFIX = "svc.draft.";
const KEPT = 30 * 24 * 3600 * 1000; // ms
const REST = 300; // ms after the last key

/** @type {Set<() => void>} */
const due = new Set(); // of every field that holds what is not saved yet

/** Save all that was typed by now: what holds it is left. */
export const saveDrafts = () => due.forEach((save) => save());
addEventListener("pagehide", saveDrafts);

/**
 * Fill a text field with its draft and save what is typed. Returns {restored, again(), clear()}:
 * whether there was one, to fill the field anew, and to forget it once it is sent.
 * @param {HTMLInputElement | HTMLTextAreaElement} textarea
 * @param {string} name
 */
export function draft(textarea, name) {
  const kept = draftOf(name);
  if (kept) textarea.value = kept;
  const save = () => {
    if (due.delete(save)) keepDraft(name, textarea.value);
  };
  const later = settle(REST, save);
  textarea.addEventListener("input", () => {
    due.add(save);
    later();
  });
  textarea.addEventListener("blur", save);
  return {
    restored: kept !== "",
    again() {
      save();
      textarea.value = draftOf(name);
    },
    clear() {
      due.delete(save);
      keepDraft(name, "");
    },
  };
}

/**
 * The draft of that name; "" when there is none.
 * @param {string} name
 */
export const draftOf = (name) => read(PREFIX + name)?.text ?? "";

/**
 * The names of all drafts that begin so: for text about what may stand elsewhere by now.
 * @param {string} prefix
 */
export function draftsUnder(prefix) {
  try {
    const keys = Object.keys(localStorage).filter((key) => key.startsWith(PREFIX + prefix));
    return keys.filter(read).map((key) => key.slice(PREFIX.length));
  } catch {
    return [];
  }
}

/** @param {string} key */
function read(key) {
  try {
    const { text, at } = JSON.parse(localStorage.getItem(key) ?? "null");
    return typeof text === "string" && Date.now() - at < KEPT ? { text, at } : null;
  } catch {
    return null;
  }
}

/**
 * Keep it as the draft of that name, "" to forget it. A full or refused store never stands in the
 * way of typing.
 * @param {string} name
 * @param {string} text
 */
export function keepDraft(name, text) {
  try {
    if (text) localStorage.setItem(PREFIX + name, JSON.stringify({ text, at: Date.now() }));
    else localStorage.removeItem(PREFIX + name);
  } catch {
    return;
  }
}

function forgetOld() {
  try {
    for (const key of Object.keys(localStorage))
      if (key.startsWith(PREFIX) && !read(key)) localStorage.removeItem(key);
  } catch {
    return;
  }
}

forgetOld();
