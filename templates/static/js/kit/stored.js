// Small words that this browser keeps; one that refuses to is none of the page's business.

/**
 * What was kept under that name, "" for nothing.
 * @param {string} name
 */
export function stored(name) {
  try {
    return localStorage.getItem(name) ?? "";
  } catch {
    return "";
  }
}

/**
 * Keep a word; "" forgets it.
 * @param {string} name
 * @param {string} word
 */
export function store(name, word) {
  try {
    if (word) localStorage.setItem(name, word);
    else localStorage.removeItem(name);
  } catch {
    return;
  }
}
