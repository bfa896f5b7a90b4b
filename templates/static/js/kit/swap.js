// Navigation between the pages of one frame without reloading it: URL and history are the
// browser's, and only the parts that differ are replaced. Without the Navigation API, and after a
// loss of the connection, every page is loaded as a whole.

import { connection } from "./connection.js";
import { h } from "./dom.js";

const KEPT = 8; // last visited pages, shown immediately when the user comes back

/**
 * `show` puts the page in place and brings it up to date; when `life` aborts, it undoes all it set
 * up (listeners, timers, streams, keys). `back`: the user came by Back or Forward, so that the page
 * is shown as it was left. A page that is `over` is built again the next time.
 * @typedef {{show: (life: AbortSignal, options: {back: boolean}) => unknown, over?: boolean}} Shown
 */

/**
 * Show the page of the current URL, and other pages of the frame as the user navigates to them.
 * `of` returns the name of the page at a URL, null if it is not of this frame; `make` builds the
 * page of a name. Returns the result of the first page's `show`.
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
   * Show a page. One that cannot be shown in place is loaded, so that the service says why.
   * @param {string} name
   * @param {boolean} back
   */
  async function go(name, back) {
    life.abort();
    life = new AbortController();
    const { signal } = life;
    shown = name;
    await Promise.all([...document.querySelectorAll("dialog[open]")].map(closeDialog));
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

  document.body.prepend(said); // after the shell it would make the page longer
  window.navigation?.addEventListener("navigate", leaving);
  return begin(shown);
}

/**
 * Close a dialogue; resolves after its close event, when a sheet has put its node back.
 * @param {Element} dialog
 * @returns {Promise<unknown>}
 */
const closeDialog = (dialog) =>
  new Promise((done) => {
    dialog.addEventListener("close", done, { once: true });
    /** @type {HTMLDialogElement} */ (dialog).close();
  });
