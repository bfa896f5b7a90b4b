// A menu under a button, with arrow keys, first letters and Esc; the focus returns to the button.

import { h, icon } from "./dom.js";
import { caps } from "./keys.js";

const PLACES = "dialog, main, aside, nav, body > header"; // the menu goes into a landmark

/**
 * @typedef {{label: string, icon?: string, act: () => unknown, key?: string, disabled?: boolean,
 *   why?: string, danger?: boolean, checked?: boolean}} Item
 */
/** @typedef {(Item | string | false | null | undefined)[]} Items */

/** @type {Menu | null} */
let open = null;

/**
 * Give a button a menu. `items` is an array, or a function called on opening that returns an array,
 * of {label, icon, act, key, disabled, why, danger, checked}; "-" draws a line. `why` is shown on a
 * disabled item; `checked` (true or false) makes the item one of several choices.
 * @template {HTMLElement} T
 * @param {T} button
 * @param {Items | (() => Items)} items
 */
export function menu(button, items) {
  button.setAttribute("aria-haspopup", "menu");
  button.setAttribute("aria-expanded", "false");
  /** @param {boolean} last */
  const show = (last) => new Menu(button, typeof items === "function" ? items() : items, last);
  button.addEventListener("click", () => (open?.button === button ? open.close() : show(false)));
  button.addEventListener("keydown", (event) => {
    if (event.key !== "ArrowDown" && event.key !== "ArrowUp") return;
    event.preventDefault();
    event.stopPropagation();
    show(event.key === "ArrowUp");
  });
  return button;
}

class Menu {
  /**
   * @param {HTMLElement} button
   * @param {Items} items
   * @param {boolean} last
   */
  constructor(button, items, last) {
    open?.close();
    open = this;
    this.button = button;
    this.node = h(
      "div",
      { class: "menu", role: "menu", popover: "manual", "aria-label": name(button) },
      items.map((item) => item && (typeof item === "string" ? line() : this.item(item))),
    );
    this.node.addEventListener("keydown", (event) => this.onKey(event));
    /** @param {Event} event */
    this.outside = (event) => {
      const at = /** @type {Node} */ (event.target);
      if (!this.node.contains(at) && !button.contains(at)) this.close(false);
    };
    this.gone = () => this.close(false);
    document.addEventListener("pointerdown", this.outside, true);
    document.addEventListener("focusin", this.outside);
    addEventListener("resize", this.gone);
    (button.closest(PLACES) ?? document.body).append(this.node);
    this.node.showPopover();
    this.place();
    button.setAttribute("aria-expanded", "true");
    this.choices()
      .at(last ? -1 : 0)
      ?.focus();
  }

  /** @param {Item} item */
  item({ label, icon: shape, act, key, disabled, why, danger, checked }) {
    const choose = () => {
      if (disabled) return;
      this.close();
      act();
    };
    return h(
      "button",
      {
        type: "button",
        role: checked === undefined ? "menuitem" : "menuitemradio",
        "aria-checked": checked === undefined ? null : String(checked),
        class: danger ? "choice danger" : "choice",
        tabindex: "-1",
        "aria-disabled": disabled ? "true" : null,
        onclick: choose,
      },
      shape ? icon(shape) : h("span", { class: "icon" }),
      h("span", { class: "grow" }, label, disabled && why && h("span", { class: "why" }, why)),
      checked && icon("check"),
      key && h("span", { class: "line" }, caps(key)),
    );
  }

  choices() {
    const found = this.node.querySelectorAll("[role^=menuitem]");
    return /** @type {HTMLElement[]} */ ([...found]);
  }

  /** Under the button, or over it where there is more room; never past an edge. */
  place() {
    const at = this.button.getBoundingClientRect();
    const { width, height } = this.node.getBoundingClientRect();
    const room = innerHeight - at.bottom - 8;
    const top = room >= height || room >= at.top ? at.bottom + 4 : at.top - height - 4;
    const left = at.left + width + 8 > innerWidth ? at.right - width : at.left;
    this.node.style.top = `${Math.max(8, Math.min(top, innerHeight - height - 8))}px`;
    this.node.style.left = `${Math.max(8, Math.min(left, innerWidth - width - 8))}px`;
  }

  /** @param {KeyboardEvent} event */
  onKey(event) {
    const all = this.choices();
    const at = all.indexOf(/** @type {HTMLElement} */ (document.activeElement));
    /** @type {Record<string, number>} */
    const steps = {
      ArrowDown: (at + 1) % all.length,
      ArrowUp: (at - 1 + all.length) % all.length,
      Home: 0,
      End: all.length - 1,
    };
    event.stopPropagation();
    if (event.key === "Tab") this.close();
    else if (event.key === "Escape") {
      event.preventDefault();
      this.close();
    } else if (event.key in steps) {
      event.preventDefault();
      all[steps[event.key]]?.focus();
    } else if (event.key.length === 1 && event.key !== " ") {
      const next = [...all.slice(at + 1), ...all.slice(0, at + 1)];
      const letter = event.key.toLowerCase();
      next.find((one) => one.textContent.trim().toLowerCase().startsWith(letter))?.focus();
    }
  }

  close(giveBack = true) {
    if (open !== this) return;
    open = null;
    document.removeEventListener("pointerdown", this.outside, true);
    document.removeEventListener("focusin", this.outside);
    removeEventListener("resize", this.gone);
    this.button.setAttribute("aria-expanded", "false");
    this.node.remove();
    if (giveBack) this.button.focus();
  }
}

/** @param {HTMLElement} button */
const name = (button) => button.getAttribute("aria-label") ?? button.textContent.trim();
const line = () => h("hr", { role: "separator" });
