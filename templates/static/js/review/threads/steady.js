// Nothing moves under the reader: changes above the place where they type or read do not shift it.

const scroller = document.getElementById("main");

/** Run `act`, then scroll so that the reader's place is where it was before. */
export function steady(act) {
  const anchor = place();
  const before = anchor?.getBoundingClientRect().top;
  act();
  if (!anchor?.isConnected) return;
  scroller.scrollTop += anchor.getBoundingClientRect().top - before;
}

/** The focused element, if visible; else the element in the middle of the diff. */
function place() {
  const { top, bottom, left, width } = scroller.getBoundingClientRect();
  const active = document.activeElement;
  const at = active?.getBoundingClientRect();
  if (active !== scroller && scroller.contains(active) && at.bottom > top && at.top < bottom)
    return active;
  const under = document.elementFromPoint(left + width * 0.7, (top + bottom) / 2);
  return scroller.contains(under) && under !== scroller ? under.closest("tr, .thread, p") : null;
}
