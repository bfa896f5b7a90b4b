// What the address of the page names: a commit of the project, and a file, a line or a thread of it.

import { pageOf } from "./route.js";
import { state } from "./state.js";

const SHA = /^[0-9a-f]{4,64}$/i;

/** The text that is meant; null where a `%` in it begins no character. */
function meant(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
}

/** The file, line or thread that a hash names; "" where it names none. */
export const namedBy = (hash) => meant(hash.slice(1)) ?? "";

/**
 * The commit at an address, {repo, sha, hash}; null for anything but one of this project.
 * @param {URL} address
 */
export function commitAt({ origin, pathname, hash }) {
  const project = `${pageOf(state.project)}/`;
  if (origin !== location.origin || !pathname.startsWith(project)) return null;
  const parts = pathname.slice(project.length).split("/").map(meant);
  const [repo, sha] = parts;
  return parts.length === 2 && repo !== null && SHA.test(sha) ? { repo, sha, hash } : null;
}

/** Call back with the hash when it alone changed: other addresses are other pages. */
export const onNamed = (callback) =>
  addEventListener("hashchange", ({ oldURL, newURL }) => {
    const [before, now] = [new URL(oldURL), new URL(newURL)];
    if (before.pathname + before.search === now.pathname + now.search) callback(now.hash);
  });
