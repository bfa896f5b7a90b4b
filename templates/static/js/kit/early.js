// Keys pressed before the page can take them: kept, and pressed again in their order. All wait for the
// scripts; one that nobody takes then waits for the first data, unless a field has the focus by then:
// there it is typed. And a script of the page that does not come, which it cannot say itself.
// No module, so that it runs before the page is read.
{
  const PATIENCE = 4000; // ms after the scripts are there
  const CONTROL = "a[href], button, summary, input, textarea, select, [contenteditable]";
  const FIELD = "input, textarea, [contenteditable]";
  const NAMED = ["Enter", "Escape", "Backspace", "ArrowDown", "ArrowUp"];
  /** @type {KeyboardEventInit[]} */
  const kept = [];
  let scripts = false;
  let data = false;

  /**
   * A control has its own keys, the browser those with Ctrl, but for that of the palette.
   * @param {KeyboardEvent} event
   */
  function meant(event) {
    const { key } = event;
    if (event.isComposing || /** @type {Element} */ (event.target).matches?.(CONTROL)) return false;
    const plain = event.getModifierState("AltGraph") || !(event.ctrlKey || event.altKey);
    if (!plain || event.metaKey)
      return !event.altKey && !event.shiftKey && key.toLowerCase() === "k";
    return NAMED.includes(key) || (key.length === 1 && key !== " ") || (key === " " && kept.length);
  }

  /** @param {KeyboardEvent} event */
  function keep(event) {
    if (!event.isTrusted || !meant(event)) return;
    event.stopImmediatePropagation();
    if (event.key.length === 1 || kept.length) event.preventDefault();
    const { key, code, shiftKey, metaKey, repeat } = event;
    const ctrlKey = event.ctrlKey && !event.getModifierState("AltGraph");
    kept.push({ key, code, shiftKey, ctrlKey, metaKey, repeat, bubbles: true, cancelable: true });
    press();
  }

  /** Press what can be pressed by now. */
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
   * Only a listener on the way down hears of it.
   * @param {Event} event
   */
  function missed(event) {
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
  document.addEventListener("error", missed, true);
  document.addEventListener("DOMContentLoaded", () => {
    scripts = true;
    document.addEventListener("svc-rest", end, { once: true });
    setTimeout(end, PATIENCE);
    press();
  });
}
