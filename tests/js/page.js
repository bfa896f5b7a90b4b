// What a module finds in a page: a document, and clocks that keep nothing from its end.

import { createRequire, register } from "node:module";

register("./modules.js", import.meta.url);

const require = createRequire(import.meta.url);
let page;
const made = () => (page ??= require("linkedom").parseHTML("<body><div id=toasts></div></body>"));

// Most modules never ask for it, and it takes longer to load than they do.
for (const name of ["document", "Node", "window"])
  Object.defineProperty(globalThis, name, { get: () => made()[name], configurable: true });

globalThis.addEventListener = () => {}; // nothing happens to it

const { setInterval: every } = globalThis;
globalThis.setInterval = (...given) => every(...given).unref();
