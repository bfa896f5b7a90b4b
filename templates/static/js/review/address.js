// What the address of the page names: a commit of the project, and a file, a line or a thread of it.

import { pageOf } from "./route.js";
import { state } from "./state.js";

const SHA = /^[0-9a-f]{4,64}$/i;

/** The parts of a path as they are meant; none where a `%` in it begins no character. */
function partsOf(path) {
  try {
    return path.split("/").map(decodeURIComponent);
  } catch {
    return [];
  }
}

/**
 * The commit at an address, {repo, sha, hash}; null for anything but one of this project.
 * @param {URL} address
 */
export function commitAt({ origin, pathname, hash }) {
  const project = `${pageOf(state.project)}/`;
  if (origin !== location.origin || !pathname.startsWith(project)) return null;
  const [repo, sha, ...more] = partsOf(pathname.slice(project.length));
  return SHA.test(sha) && !more.length ? { repo, sha, hash } : null;
}

/** Call back with the hash when it alone changed: other addresses are other pages. */
export const onNamed = (callback) =>
  addEventListener("hashchange", ({ oldURL, newURL }) => {
    const [before, now] = [new URL(oldURL), new URL(newURL)];
    if (before.pathname + before.search === now.pathname + now.search) callback(now.hash);
  });
