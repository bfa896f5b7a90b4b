// Give each of several windows that edit the same file its own draft.

import { draftOf } from "../../kit/drafts.js";

const MOST = 8; // windows of one file with their own draft; further ones share the first
const WAIT_MS = 300; // a window that is reloading may release its lock this late

/**
 * The name of the draft of a place.
 * @param {string} place
 */
export const draftName = (place) => `dashboard/${place}`;

/** @type {Map<string, Promise<string>>} */
const held = new Map(); // until the window is closed

/**
 * The name under which this window keeps its draft of a file; a draft left by a closed window is
 * taken over.
 * @param {string} file
 */
export function placeOf(file) {
  const place = held.get(file) ?? findPlace(file);
  held.set(file, place);
  return place;
}

/** @param {string} file */
async function findPlace(file) {
  if (!navigator.locks) return file; // plain HTTP at an address other than localhost
  const places = Array.from({ length: MOST }, (_, n) => (n ? `${file}#${n + 1}` : file));
  for (const place of places.filter((one) => draftOf(draftName(one))))
    if (await takeLock(place, { signal: AbortSignal.timeout(WAIT_MS) })) return place;
  for (const place of places) if (await takeLock(place, { ifAvailable: true })) return place;
  return file;
}

/**
 * Take the lock of a place; whether this window has it now.
 * @param {string} place
 * @param {LockOptions} how
 * @returns {Promise<boolean>}
 */
function takeLock(place, how) {
  return new Promise((resolve) => {
    const keep = (lock) => {
      resolve(lock !== null);
      return lock && new Promise(() => {});
    };
    navigator.locks.request(`svc.draft.${draftName(place)}`, how, keep).catch(() => resolve(false));
  });
}
