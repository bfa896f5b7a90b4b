// Which of several windows on one file this one is, as each keeps a draft of its own.

import { draftOf } from "../../kit/drafts.js";

const MOST = 8; // windows on one file; further ones share the first draft
const WAIT_MS = 300; // a window that is loaded anew may let go as late

/**
 * The draft of a place.
 * @param {string} place
 */
export const kept = (place) => `dashboard/${place}`;

/** @type {Map<string, Promise<string>>} */
const held = new Map(); // until the window is gone

/**
 * The name under which this window keeps its draft of a file; what a window that is gone has left
 * is taken over.
 * @param {string} file
 */
export function placeOf(file) {
  const place = held.get(file) ?? found(file);
  held.set(file, place);
  return place;
}

/** @param {string} file */
async function found(file) {
  if (!navigator.locks) return file; // the page has a plain address beside localhost
  const places = Array.from({ length: MOST }, (_, n) => (n ? `${file}#${n + 1}` : file));
  for (const place of places.filter((one) => draftOf(kept(one))))
    if (await taken(place, { signal: AbortSignal.timeout(WAIT_MS) })) return place;
  for (const place of places) if (await taken(place, { ifAvailable: true })) return place;
  return file;
}

/**
 * Whether the place is this window's now.
 * @param {string} place
 * @param {LockOptions} how
 * @returns {Promise<boolean>}
 */
function taken(place, how) {
  return new Promise((resolve) => {
    const keep = (lock) => {
      resolve(lock !== null);
      return lock && new Promise(() => {});
    };
    navigator.locks.request(`svc.draft.${kept(place)}`, how, keep).catch(() => resolve(false));
  });
}
