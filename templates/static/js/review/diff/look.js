// How diffs are shown, remembered by the browser: one or two columns, wrapping, white space.

const NAME = "review.look";
const FIRST = { split: false, wrap: true, spaces: false, quiet: false, images: "side" };

function remembered() {
  try {
    return { ...FIRST, ...JSON.parse(localStorage.getItem(NAME) ?? "{}") };
  } catch {
    return { ...FIRST };
  }
}

/**
 * split: two columns; wrap: long lines; spaces: blanks as signs; quiet: white space hidden; images:
 * how they are compared.
 */
export const look = remembered();

export function setLook(changes) {
  Object.assign(look, changes);
  try {
    localStorage.setItem(NAME, JSON.stringify(look));
  } catch {
    // a full or refused store forgets it with the page
  }
}
