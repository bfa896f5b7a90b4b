// The nodes of a page as nested lists of ["tag", child, ...] and texts, without what only one
// renderer adds. tests/review/outline.py makes the same of HTML.

const EMPTY = new Set(["br", "hr", "img"]);
const SEEN_THROUGH = new Set(["span", "thead", "tbody", "div"]);

export const outline = (root) => tidy(["", ...inside(root, "")]).slice(1);

const inside = (node, above) => [...node.childNodes].flatMap((child) => one(child, above));

function one(node, above) {
  if (node.nodeType === 3) return [node.textContent];
  const tag = node.tagName.toLowerCase();
  if (tag === "button") return [];
  if (node.classList.contains("box")) return [[node.classList.contains("done") ? "[x]" : "[ ]"]];
  if (EMPTY.has(tag)) return [[tag]];
  if (SEEN_THROUGH.has(tag)) return inside(node, above);
  if (tag === "p" && above === "li") return [" ", ...inside(node, above)];
  return [[named(node, tag), ...inside(node, tag)]];
}

function named(node, tag) {
  const more = {
    a: node.getAttribute("href"),
    ol: node.getAttribute("start"),
    pre: node.getAttribute("aria-label")?.replace(/^Code(, )?/, ""),
  }[tag];
  return more ? `${tag} ${more}` : tag;
}

/** White space as a page shows it. */
function tidy([name, ...children]) {
  const kept = [];
  for (const child of children) {
    const made = Array.isArray(child) ? tidy(child) : child;
    if (typeof made === "string" && typeof kept.at(-1) === "string") kept[kept.length - 1] += made;
    else kept.push(made);
  }
  if (name.startsWith("pre")) return [name, kept.join("").replace(/\n+$/, "")];
  const texts = kept.map((made) =>
    Array.isArray(made) ? made : made.replaceAll(/\s+/g, " ").trim(),
  );
  return [name, ...texts.filter((made) => made.length)];
}
