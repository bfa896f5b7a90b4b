// Long work in pieces: no task of the page keeps the browser from answering for longer than this.

const FIRST = 8; // ms until what there is by then is seen
const SLICE = 24; // ms of each piece behind it
const LATE = 100; // ms: a window that is not seen draws nothing
const PATIENCE = 200; // ms of what is drawn with what would move it

const turn = () => globalThis.scheduler?.yield?.() ?? new Promise((go) => setTimeout(go));

/** What goes on after a yield goes before the browser's drawing: what was done first is not seen. */
export const frame = () =>
  new Promise((go) => {
    requestAnimationFrame(() => setTimeout(go));
    setTimeout(go, LATE);
  });

/**
 * Once it is there, or will not be soon.
 * @param {Promise<unknown>} awaited
 */
export const soon = (awaited) =>
  Promise.race([awaited.catch(() => {}), new Promise((go) => setTimeout(go, PATIENCE))]);

/**
 * const breathe = pace(); in a loop: await breathe() gives way to the browser when it is time, at
 * first until it has drawn what is there; not so where what follows would move that: `early` false.
 * `first`: ms until then, less for what stands beside the thing itself.
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
