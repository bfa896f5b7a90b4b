// Long work in pieces: no task of the page keeps the browser from answering for longer than this.

const SLICE = 24; // ms

const rest = () =>
  globalThis.scheduler?.yield ? globalThis.scheduler.yield() : new Promise((go) => setTimeout(go));

/** const breathe = pace(); in a loop: await breathe() gives way to the browser when it is time. */
export function pace() {
  let since = performance.now();
  return () => {
    if (performance.now() - since < SLICE) return undefined;
    return rest().then(() => {
      since = performance.now();
    });
  };
}
