// What checks JavaScript is pinned, wherever it comes from.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

const read = (name) => JSON.parse(readFileSync(new URL(`../${name}`, import.meta.url), "utf8"));

test("every package has one version and a checksum, and the lock names no registry", () => {
  const wanted = Object.values(read("package.json").devDependencies);
  assert.deepEqual(
    wanted.filter((version) => !/^\d+\.\d+\.\d+$/.test(version)),
    [],
  );
  const { "": _, ...packages } = read("package-lock.json").packages;
  const unsafe = Object.entries(packages).filter(
    ([, one]) => !one.integrity?.startsWith("sha512-") || "resolved" in one,
  );
  assert.deepEqual(unsafe, []);
});
