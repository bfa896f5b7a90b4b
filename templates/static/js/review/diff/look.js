// How diffs are shown, remembered by the browser: one or two columns, wrapping, white space.

import { store } from "../../kit/stored.js";

const NAME = "review.look";
const FIRST = { split: false, wrap: true, spaces: false, quiet: false, images: "side" };

function storedLook() {
  try {
    return { ...FIRST, ...JSON.parse(localStorage.getItem(NAME) ?? "{}") };
  } catch {
    return { ...FIRST };
  }
}

/**
 * split: two columns; wrap: wrap long lines; spaces: show blanks as signs; quiet: hide changes of
 * white space; images: how images are compared.
 */
export const look = storedLook();

export function setLook(changes) {
  Object.assign(look, changes);
  store(NAME, JSON.stringify(look));
}
