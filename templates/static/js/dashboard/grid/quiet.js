// Whether the user is pointing, typing, scrolling or selecting in a part of the page, during which
// nothing there may move. It ends a moment after the last input.

const REST_MS = 2500;
const SIGNS = ["pointermove", "pointerdown", "keydown", "wheel", "touchmove"];

export class Quiet {
  at = -REST_MS;
  timer = 0;

  /** `also()`: further reasons to hold still; `over()` is called when the last input is old. */
  constructor(node, { also = () => false, over }) {
    this.node = node;
    this.also = also;
    this.over = over;
    for (const sign of SIGNS)
      node.addEventListener(sign, () => this.noteInput(), { passive: true, capture: true });
  }

  get busy() {
    return performance.now() - this.at < REST_MS || this.also() || this.hasSelection();
  }

  noteInput() {
    this.at = performance.now();
    this.timer ||= setTimeout(() => this.checkRest(), REST_MS);
  }

  checkRest() {
    const left = REST_MS - (performance.now() - this.at);
    this.timer = left > 0 ? setTimeout(() => this.checkRest(), left) : 0;
    if (!this.timer) this.over();
  }

  /** End the wait at once: the user asked to see what was held back. */
  settle() {
    this.at = -REST_MS;
  }

  hasSelection() {
    const selection = getSelection();
    return !selection.isCollapsed && this.node.contains(selection.anchorNode);
  }
}
