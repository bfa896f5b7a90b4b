// What the pages are sure of beyond the types of the browser: what a selector finds is HTML.

interface ParentNode {
  querySelector<K extends keyof HTMLElementTagNameMap>(
    selectors: K,
  ): HTMLElementTagNameMap[K] | null;
  querySelector<E extends Element = HTMLElement>(selectors: string): E | null;
  querySelectorAll<K extends keyof HTMLElementTagNameMap>(
    selectors: K,
  ): NodeListOf<HTMLElementTagNameMap[K]>;
  querySelectorAll<E extends Element = HTMLElement>(selectors: string): NodeListOf<E>;
}

interface Element {
  closest<K extends keyof HTMLElementTagNameMap>(selector: K): HTMLElementTagNameMap[K] | null;
  closest<E extends Element = HTMLElement>(selector: string): E | null;
}

interface HTMLCollection {
  [Symbol.iterator](): ArrayIterator<HTMLElement>;
}

// What modules keep at their elements: the view of a file, the place of a row, a chunk of lines.
interface HTMLElement {
  view?: any;
  at?: any;
  chunk?: any;
}

// Anything may be looked for in a list.
interface Array<T> {
  includes(one: unknown, from?: number): boolean;
  indexOf(one: unknown, from?: number): number;
}
