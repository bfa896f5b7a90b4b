// The unsent values of a form: one draft of all its fields.

import { begunOn, draftOf, keepDraft, offerLeft } from "../../kit/drafts.js";

/** @typedef {Record<string, string>} Values */

export class Keeping {
  /**
   * `first`: the initial values; `values()`: the current ones; `write(values)` fills values in;
   * `was`: the content of the file that the form changes.
   * @param {string} name
   * @param {{first: Values, values: () => Values, write: (given: Values) => void, was?: string}} form
   */
  constructor(name, { first, values, write, was }) {
    this.name = `dashboard/form.${name}`;
    this.first = first;
    this.values = values;
    this.write = write;
    this.was = begunOn(this.name) ?? was;
  }

  get dirty() {
    const now = this.values();
    return Object.keys(now).some((field) => now[field] !== this.first[field]);
  }

  /** Save the draft, or delete it if nothing differs from `first`; whether there is one. */
  keep() {
    const { dirty } = this;
    keepDraft(this.name, dirty ? JSON.stringify(this.values()) : "", this.was);
    return dirty;
  }

  forget() {
    keepDraft(this.name, "");
  }

  /**
   * Fill in the draft; below `place`, offer the drafts that closed windows left.
   * @param {HTMLElement} place
   */
  restore(place) {
    this.write(parseValues(draftOf(this.name)));
    offerLeft(place, this.name, (text, was) => this.swap(text, was), words);
  }

  /**
   * @param {string} text
   * @param {string} [was]
   */
  swap(text, was) {
    const before = this.dirty ? { text: JSON.stringify(this.values()), was: this.was } : null;
    this.was = was ?? this.was;
    this.write({ ...this.first, ...parseValues(text) });
    this.keep();
    return before;
  }
}

/** @param {string} text */
const words = (text) => Object.values(parseValues(text)).filter(Boolean).join(", ");

/**
 * @param {string} text
 * @returns {Values}
 */
function parseValues(text) {
  try {
    return JSON.parse(text);
  } catch {
    return {};
  }
}
