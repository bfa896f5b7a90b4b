// Small words that this browser keeps; one that refuses to is none of the page's business.

const PREFIX = "svc.dashboard.";

/** What was kept under that name, "" for nothing. */
export function stored(name) {
  try {
    return localStorage.getItem(PREFIX + name) ?? "";
  } catch {
    return "";
  }
}

/** Keep a word; "" forgets it. */
export function store(name, word) {
  try {
    if (word) localStorage.setItem(PREFIX + name, word);
    else localStorage.removeItem(PREFIX + name);
  } catch {
    return;
  }
}
