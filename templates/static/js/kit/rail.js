// The links of the rail: the parts that this page may lead to. A page that came through a proxy has
// only its own part.

/** @param {string} name @returns {HTMLAnchorElement | null} */
export const partLink = (name) => document.querySelector(`.rail .part[data-part="${name}"]`);
