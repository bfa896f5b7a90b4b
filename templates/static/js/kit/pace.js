// Long work in slices, so that no task blocks the browser for longer than these times.

const FIRST = 8; // ms until the first results are drawn
const SLICE = 24; // ms of each later slice
const LATE = 100; // ms: a hidden window draws no frames
const PATIENCE = 200; // ms to wait for content that would move what is drawn

const turn = () => globalThis.scheduler?.yield?.() ?? new Promise((go) => setTimeout(go));

/** Resolve after the browser has drawn a frame: work after a mere yield would come before it. */
export const frame = () =>
  new Promise((go) => {
    requestAnimationFrame(() => setTimeout(go));
    setTimeout(go, LATE);
  });

/**
 * Resolve when `awaited` settles, but after PATIENCE at the latest.
 * @param {Promise<unknown>} awaited
 */
export const soon = (awaited) =>
  Promise.race([awaited.catch(() => {}), new Promise((go) => setTimeout(go, PATIENCE))]);

/**
 * const breathe = pace(); in a loop, await breathe() yields to the browser when a slice is over.
 * The first yield lasts until a frame is drawn, unless `early` is false, for content that later
 * content would move. `first`: ms of the first slice, less for what is beside the main content.
 */
export function pace({ early = true, first = FIRST } = {}) {
  let since = performance.now();
  let seen = !early;
  return () => {
    if (performance.now() - since < (seen ? SLICE : first)) return undefined;
    const rest = seen ? turn() : frame();
    seen = true;
    return rest.then(() => {
      since = performance.now();
    });
  };
}
