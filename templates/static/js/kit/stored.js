// Short values in localStorage; a browser that refuses to store them is ignored.

/**
 * The value stored under `name`, "" for none.
 * @param {string} name
 */
export function storedValue(name) {
  try {
    return localStorage.getItem(name) ?? "";
  } catch {
    return "";
  }
}

/**
 * Store a value; "" deletes it.
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
