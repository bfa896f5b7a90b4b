// DOM nodes without markup: text stays text, so nothing a file, a user or a model wrote can run.

const SVG = "http://www.w3.org/2000/svg";

const TURNING = /[\u202a-\u202e\u2066-\u2069]/g; // controls of the text direction

/**
 * The text with its direction controls made visible, as «U+202E», and without effect.
 * @param {string} text
 */
export const visible = (text) =>
  text.replace(TURNING, (sign) => `«U+${sign.charCodeAt(0).toString(16).toUpperCase()}»`);

const READ = ["title", "alt", "placeholder"]; // attributes that users read, besides aria-…

/** @typedef {string | number | false | null | undefined | Node | readonly Child[]} Child */
/** @typedef {Record<string, any>} Props */
/** @typedef {HTMLElementTagNameMap} Tags */

/**
 * h("a", {class, href, onclick, "aria-label", dataset: {…}}, child, [child, …])
 * @template {string} T
 * @param {T} tag
 * @param {Props | null} [props]
 * @param {...Child} children
 * @returns {T extends keyof Tags ? Tags[T] : HTMLElement}
 */
export function h(tag, props, ...children) {
  const node = /** @type {any} */ (document.createElement(tag));
  for (const [name, value] of Object.entries(props ?? {})) set(node, name, value);
  node.append(...flat(children));
  return node;
}

/**
 * @param {any} node
 * @param {string} name
 * @param {any} value
 */
function set(node, name, value) {
  if (value === undefined || value === null || value === false) return;
  if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
  else if (name === "dataset") Object.assign(node.dataset, value);
  else if (name === "value" || name === "checked" || name === "selected") node[name] = value;
  else if (typeof value === "string" && (READ.includes(name) || name.startsWith("aria-")))
    node.setAttribute(name, visible(value));
  else node.setAttribute(name, value === true ? "" : value);
}

/** @type {(children: readonly Child[]) => (Node | string)[]} */
const flat = (/** @type {readonly any[]} */ children) =>
  children
    .flat(Infinity)
    .filter((child) => child !== null && child !== undefined && child !== false)
    .map((child) => (typeof child === "string" ? visible(child) : child));

/**
 * @param {string} id
 * @param {string} className
 * @param {string} viewBox
 * @param {string} [label]
 */
function sprite(id, className, viewBox, label) {
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("class", className);
  svg.setAttribute("viewBox", viewBox);
  if (label) {
    svg.setAttribute("role", "img");
    svg.setAttribute("aria-label", label);
  } else svg.setAttribute("aria-hidden", "true");
  const use = document.createElementNS(SVG, "use");
  use.setAttribute("href", `#${id}`);
  svg.append(use);
  return svg;
}

/** @type {(name: string, label?: string) => SVGElement} */
export const icon = (name, label) => sprite(`i-${name}`, "icon", "0 0 16 16", label);

/**
 * The shape of a state {shape, tone, word}. The word is its label unless the caller prints it.
 * @param {{shape: string, tone: string, word?: string}} state
 */
export const mark = ({ shape, tone, word }, spoken = true) =>
  sprite(`s-${shape}`, `state ${tone}`, "0 0 14 14", spoken ? word : undefined);

/**
 * @param {Child} label
 * @param {{icon?: string | false, kind?: string, onclick?: (event: any) => unknown} & Props} [props]
 */
export function button(label, { icon: name, kind = "", onclick, ...rest } = {}) {
  return h(
    "button",
    { type: "button", class: `btn ${kind}`, onclick, ...rest },
    name && icon(name),
    label,
  );
}

/**
 * Replace the children of a node. A pending redraw of the node is cancelled (see redrawUnpressed).
 * @template {Element} T
 * @param {T} node
 * @param {...Child} children
 */
export function fill(node, ...children) {
  behind.delete(node);
  node.replaceChildren(...flat(children));
  return node;
}

/**
 * Like fill, for a node in use: the focus is restored, an open `details[data-fold]` is opened
 * again, and while something in the node is pressed the redraw waits for the release (see keep).
 * @param {Element} node
 * @param {...Child} children
 */
export function refill(node, ...children) {
  redrawUnpressed(node, () => {
    const active = within(node);
    const open = [...node.querySelectorAll("details[data-fold][open]")].map((one) => foldOf(one));
    fill(node, ...children);
    for (const one of node.querySelectorAll("details[data-fold]"))
      one.toggleAttribute("open", open.includes(foldOf(one)));
    refocus(active, node);
  });
}

/**
 * Redraw `node`: now, or after the release if something in it is pressed, since the click on a
 * removed node would be lost. Of several pending redraws only the last happens.
 * @param {Element} node
 * @param {() => void} draw
 */
export function redrawUnpressed(node, draw) {
  behind.delete(node);
  if (node.matches(":active")) afterRelease(node, () => redrawUnpressed(node, draw));
  else draw();
}

/** @param {Element} node */
const foldOf = (node) => /** @type {HTMLElement} */ (node).dataset.fold;

/**
 * Bring the children of `parent` in line with `items`, touching only what changed, so that focus,
 * open details and selection are preserved. A pressed child is redrawn after the release, since
 * the click on a removed node would be lost. A pending skeleton is cancelled, also for no items.
 * @template T
 * @param {Element} parent
 * @param {Iterable<T>} items
 * @param {(item: T) => unknown} keyOf
 * @param {(item: T) => HTMLElement} build
 */
export function keep(parent, items, keyOf, build) {
  behind.delete(parent);
  const children = /** @type {HTMLElement[]} */ ([...parent.children]);
  const old = new Map(children.map((node) => [node.dataset.key, node]));
  /** @type {Element | null} */
  let place = parent.firstElementChild;
  for (const item of items) {
    const key = String(keyOf(item));
    const said = JSON.stringify(item);
    let node = old.get(key);
    old.delete(key);
    if (node !== undefined && node.dataset.said !== said && node.matches(":active"))
      afterRelease(parent, () => keep(parent, items, keyOf, build));
    else if (node === undefined || node.dataset.said !== said) {
      const fresh = build(item);
      fresh.dataset.key = key;
      fresh.dataset.said = said;
      if (node) {
        if (place === node) place = fresh;
        swap(node, fresh);
      }
      node = fresh;
    }
    if (node === place) place = node.nextElementSibling;
    else parent.insertBefore(node, place);
  }
  for (const node of old.values()) node.remove();
  parent.removeAttribute("aria-busy");
}

/**
 * Nodes whose redraw waits for the release of a press → the function that draws them.
 * @type {Map<Element, () => void>}
 */
const behind = new Map();

/**
 * @param {Element} parent
 * @param {() => void} draw
 */
function afterRelease(parent, draw) {
  behind.set(parent, draw);
  for (const release of ["pointerup", "pointercancel", "dragend", "keyup"])
    document.addEventListener(release, drawPending, { capture: true, once: true });
}

/** Run the pending redraws in a later task: the click of the release comes first. */
function drawPending() {
  setTimeout(() => {
    const draws = [...behind.values()];
    behind.clear();
    for (const draw of draws) draw();
  });
}

/**
 * @param {HTMLElement} node
 * @param {HTMLElement} fresh
 */
function swap(node, fresh) {
  const active = within(node);
  node.replaceWith(fresh);
  refocus(active, fresh);
}

/**
 * The focused element, if it is in `node`; else null.
 * @param {Element} node
 */
const within = (node) => (node.contains(document.activeElement) ? document.activeElement : null);

/**
 * Focus the counterpart of `active` in the redrawn node.
 * @param {Element | null} active
 * @param {Element} fresh
 */
function refocus(active, fresh) {
  if (!active) return;
  const name = nameOf(active);
  const same = /** @type {Iterable<HTMLElement>} */ (fresh.querySelectorAll(active.tagName));
  const twin = [/** @type {HTMLElement} */ (fresh), ...same].find(
    (other) => other.tagName === active.tagName && nameOf(other) === name,
  );
  twin?.focus();
}

/**
 * A name that survives a redraw: the label or the href, since the words of a link may change.
 * @param {Element} node
 */
const nameOf = (node) =>
  node.getAttribute("aria-label") ?? node.getAttribute("href") ?? node.textContent;

/**
 * Debounce: wait until calls stop for `ms`, then call once; `now()` does not wait.
 * @param {number} ms
 * @param {() => unknown} call
 */
export function settle(ms, call) {
  let timer = 0;
  const later = () => {
    clearTimeout(timer);
    timer = setTimeout(call, ms);
  };
  const now = () => {
    clearTimeout(timer);
    return call();
  };
  return Object.assign(later, { now });
}
