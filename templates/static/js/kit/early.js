// Keys pressed before the page can handle them are kept and dispatched again in order. All wait for
// the scripts; a key that no handler takes then waits for the first data, unless a field has the
// focus: then it is typed there. It also reports a script of the page that fails to load.
// Not a module, so that it runs before the page is parsed.
{
  const PATIENCE = 4000; // ms after the scripts have loaded
  const CONTROL = "a[href], button, summary, input, textarea, select, [contenteditable]";
  const FIELD = "input, textarea, [contenteditable]";
  const NAMED = ["Enter", "Escape", "Backspace", "ArrowDown", "ArrowUp"];
  /** @type {KeyboardEventInit[]} */
  const kept = [];
  let scripts = false;
  let data = false;

  /**
   * Whether to keep a key: not those of a focused control or of the browser, except Ctrl+K.
   * @param {KeyboardEvent} event
   */
  function isForPage(event) {
    const { key } = event;
    if (event.isComposing || /** @type {Element} */ (event.target).matches?.(CONTROL)) return false;
    const plain = event.getModifierState("AltGraph") || !(event.ctrlKey || event.altKey);
    if (!plain || event.metaKey)
      return !event.altKey && !event.shiftKey && key.toLowerCase() === "k";
    return NAMED.includes(key) || (key.length === 1 && key !== " ") || (key === " " && kept.length);
  }

  /** @param {KeyboardEvent} event */
  function keep(event) {
    if (!event.isTrusted || !isForPage(event)) return;
    event.stopImmediatePropagation();
    if (event.key.length === 1 || kept.length) event.preventDefault();
    const { key, code, shiftKey, metaKey, repeat } = event;
    const ctrlKey = event.ctrlKey && !event.getModifierState("AltGraph");
    kept.push({ key, code, shiftKey, ctrlKey, metaKey, repeat, bubbles: true, cancelable: true });
    press();
  }

  /** Dispatch the keys that can be handled. */
  function press() {
    while (scripts && kept.length) {
      const target = document.activeElement ?? document.body;
      const taken = !target.dispatchEvent(new KeyboardEvent("keydown", kept[0]));
      const typed = !taken && /** @type {Element} */ (document.activeElement)?.matches(FIELD);
      if (!taken && !typed && !data) return;
      const { key = "", ctrlKey, metaKey } = /** @type {KeyboardEventInit} */ (kept.shift());
      if (!typed || ctrlKey || metaKey) continue;
      if (key === "Backspace") document.execCommand("delete");
      else if (key.length === 1) document.execCommand("insertText", false, key);
    }
  }

  /**
   * Report a script that did not load. Its error event does not bubble, so the listener captures.
   * @param {Event} event
   */
  function reportMissingScript(event) {
    if (!(event.target instanceof HTMLScriptElement)) return;
    const bar = document.createElement("div");
    bar.className = "bar bad";
    bar.textContent = "A script of this page did not load: reload the page.";
    if (document.readyState !== "loading") document.getElementById("bars")?.append(bar);
    else addEventListener("DOMContentLoaded", () => document.getElementById("bars")?.append(bar));
  }

  function end() {
    data = true;
    press();
    document.removeEventListener("keydown", keep, true);
  }

  document.addEventListener("keydown", keep, true);
  document.addEventListener("error", reportMissingScript, true);
  document.addEventListener("DOMContentLoaded", () => {
    scripts = true;
    document.addEventListener("svc-rest", end, { once: true });
    setTimeout(end, PATIENCE);
    press();
  });
}
