// Parse the URL of the page: a commit of the project, and a file, a line or a thread of it.

import { pageOf } from "./route.js";
import { state } from "./state.js";

const SHA = /^[0-9a-f]{4,64}$/i;

/** The decoded text; null if a `%` in it is not a valid escape. */
function decodedText(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
}

/** The file, line or thread that a hash names; "" where it names none. */
export const namedBy = (hash) => decodedText(hash.slice(1)) ?? "";

/**
 * The commit at a URL, {repo, sha, hash}; null if it is not a commit of this project.
 * @param {URL} address
 */
export function commitAt({ origin, pathname, hash }) {
  const project = `${pageOf(state.project)}/`;
  if (origin !== location.origin || !pathname.startsWith(project)) return null;
  const parts = pathname.slice(project.length).split("/").map(decodedText);
  const [repo, sha] = parts;
  return parts.length === 2 && repo !== null && SHA.test(sha) ? { repo, sha, hash } : null;
}

/** Call back with the hash when only the hash of the URL changed: other URLs are other pages. */
export const onNamed = (callback) =>
  addEventListener("hashchange", ({ oldURL, newURL }) => {
    const [before, now] = [new URL(oldURL), new URL(newURL)];
    if (before.pathname + before.search === now.pathname + now.search) callback(now.hash);
  });
