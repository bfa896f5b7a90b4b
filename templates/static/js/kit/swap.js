// Going from page to page of one frame without loading it anew: the address and the history stay
// the browser's, and what differs is shown in place of what did. Where the browser cannot do that
// (no Navigation API), and after a loss of the connection, every page is loaded as a whole.

import { connection } from "./connection.js";
import { h } from "./dom.js";

const KEPT = 8; // pages that were left last, to show at once when someone comes back

/**
 * `show` puts the page in place and brings it up to date; it undoes all it set up (listeners, timers,
 * streams, keys) when `life` ends. `back`: by Back or Forward, so it stands as it was left.
 * A page that is `over` is made anew the next time.
 * @typedef {{show: (life: AbortSignal, options: {back: boolean}) => unknown, over?: boolean}} Shown
 */

/**
 * Show the page of this address, and those of the same frame as one goes to them. `of` names the
 * page at an address, or is null for one that is not of this frame; `make` builds the page of a
 * name. Returns what `show` of the first one does.
 * @param {(address: URL) => string | null} of
 * @param {(name: string) => Shown} make
 */
export function frame(of, make) {
  /** @type {Map<string, Shown>} */
  const kept = new Map();
  const said = h("p", { class: "sr", role: "status" });
  let life = new AbortController();
  let shown = of(new URL(location.href)) ?? "";

  /** @param {string} name */
  function page(name) {
    const known = kept.get(name);
    const found = known && !known.over ? known : make(name);
    kept.delete(name);
    kept.set(name, found);
    for (const oldest of [...kept.keys()].slice(0, -KEPT)) kept.delete(oldest);
    return found;
  }

  /**
   * What cannot be shown so is loaded: the service then says itself why.
   * @param {string} name
   * @param {boolean} back
   */
  async function go(name, back) {
    life.abort();
    life = new AbortController();
    const { signal } = life;
    shown = name;
    await Promise.all([...document.querySelectorAll("dialog[open]")].map(closed));
    if (signal.aborted) return;
    try {
      await page(name).show(signal, { back });
      if (!signal.aborted) said.textContent = document.title;
    } catch {
      if (!signal.aborted) location.reload();
    }
  }

  /** @param {NavigateEvent} event */
  function leaving(event) {
    const { canIntercept, hashChange, downloadRequest, formData, navigationType } = event;
    if (!canIntercept || hashChange || downloadRequest !== null || formData) return;
    const name = of(new URL(event.destination.url));
    if (name === null || name === shown || navigationType === "reload") return;
    const back = navigationType === "traverse";
    if (!connection.unbroken && !back) return;
    const handler = async () => (connection.unbroken ? go(name, back) : location.reload());
    event.intercept({ handler, focusReset: "manual", scroll: "manual" });
  }

  /** @param {string} name */
  const begin = async (name) => page(name).show(life.signal, { back: false });

  document.body.prepend(said); // behind the shell it would make the page longer
  window.navigation?.addEventListener("navigate", leaving);
  return begin(shown);
}

/**
 * What a sheet lent is back in the page once it says so.
 * @param {Element} dialog
 * @returns {Promise<unknown>}
 */
const closed = (dialog) =>
  new Promise((done) => {
    dialog.addEventListener("close", done, { once: true });
    /** @type {HTMLDialogElement} */ (dialog).close();
  });
