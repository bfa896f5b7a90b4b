// What a module exports is imported somewhere: else it is its own, or nobody's.

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../../..", import.meta.url));
const MODULES = join(ROOT, "templates/static/js");
const DECLARED = /^export (?:async )?(?:function\*?|class|const|let) (\w+)/gm;
const LISTED = /^export \{([^}]*)\}/gm;
const TAKEN = /^(?:import|export) (?:\{([^}]*)\}|(\*) as \w+) from\s+"(\.[^"]+)"/gm;

const files = (folder, fits) =>
  readdirSync(folder, { recursive: true })
    .filter((name) => fits.test(name) && !name.includes("node_modules"))
    .map((name) => join(folder, name));
const names = (list, side) =>
  list
    .split(",")
    .map((one) => one.trim().split(" as ").at(side))
    .filter(Boolean);
const read = (path) => readFileSync(path, "utf8");

test("every export is imported by another module or a test", () => {
  const tests = files(join(ROOT, "tests/js"), /\.test\.js$/);
  const pages = files(MODULES, /\.js$/);
  const taken = new Set();
  for (const path of [...pages, ...tests])
    for (const [, list, all, from] of read(path).matchAll(TAKEN))
      for (const name of all ? ["*"] : names(list, 0))
        taken.add(`${join(dirname(path), from)} ${name}`);

  const unused = pages.flatMap((path) => {
    const text = read(path);
    const declared = [...text.matchAll(DECLARED)].map(([, name]) => name);
    const listed = [...text.matchAll(LISTED)].flatMap(([, list]) => names(list, -1));
    return [...declared, ...listed]
      .filter((name) => !taken.has(`${path} *`) && !taken.has(`${path} ${name}`))
      .map((name) => `${relative(MODULES, path)}: ${name}`);
  });

  assert.deepEqual(unused, []);
});
