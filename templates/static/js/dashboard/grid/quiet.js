// Whether a person reads, points at, types or selects in a part of the page: nothing there may
// move then. It is over a moment after the last sign of a hand.

const REST_MS = 2500;
const SIGNS = ["pointermove", "pointerdown", "keydown", "wheel", "touchmove"];

export class Quiet {
  at = -REST_MS;
  timer = 0;

  /** `also()`: further reasons to hold still; `over()` is called when the last sign is old. */
  constructor(node, { also = () => false, over }) {
    this.node = node;
    this.also = also;
    this.over = over;
    for (const sign of SIGNS)
      node.addEventListener(sign, () => this.touched(), { passive: true, capture: true });
  }

  get busy() {
    return performance.now() - this.at < REST_MS || this.also() || this.selected();
  }

  touched() {
    this.at = performance.now();
    this.timer ||= setTimeout(() => this.rested(), REST_MS);
  }

  rested() {
    const left = REST_MS - (performance.now() - this.at);
    this.timer = left > 0 ? setTimeout(() => this.rested(), left) : 0;
    if (!this.timer) this.over();
  }

  /** From now on it is quiet: the person asked to see what waits. */
  settle() {
    this.at = -REST_MS;
  }

  selected() {
    const selection = getSelection();
    return !selection.isCollapsed && this.node.contains(selection.anchorNode);
  }
}
