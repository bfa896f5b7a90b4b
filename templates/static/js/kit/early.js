// Keys pressed before the scripts of a page are there: kept, and pressed again once they are.
// No module, so that it runs before the page is read.
{
  /** @type {KeyboardEvent[]} */
  const kept = [];
  /** @param {KeyboardEvent} event */
  const keep = (event) => kept.push(event);
  /** @param {any} event */
  const typed = ({ target }) => target.matches?.("input, textarea, select, [contenteditable]");
  /** @param {KeyboardEvent} event */
  const meant = (event) =>
    !event.defaultPrevented && !event.ctrlKey && !event.metaKey && !event.altKey && !typed(event);
  document.addEventListener("keydown", keep, true);
  document.addEventListener("DOMContentLoaded", () => {
    document.removeEventListener("keydown", keep, true);
    for (const event of kept.filter(meant))
      event.target?.dispatchEvent(new KeyboardEvent("keydown", event));
  });
}
