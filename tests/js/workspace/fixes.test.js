import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { fixOf, waysOut } from "../../../templates/static/js/workspace/triggers/fixes.js";

/** What the service says; tests/workspace/triggers/test_fixes.py makes it say so. */
const said = JSON.parse(
  readFileSync(new URL("../../fixtures/trigger_fixes.json", import.meta.url), "utf8"),
);

/** The inputs of a form, as far as a fix writes into them. */
const form = () => ({
  cron: { value: "" },
  interval: { value: "" },
  timezone: { value: "" },
  mode: { value: "" },
  onAsk: { value: "" },
  tools: [],
  swapTool(old, fresh) {
    this.tools.push(old, fresh);
  },
  grant(names) {
    this.tools.push(...names);
  },
});

for (const { error, button, sent } of said.errors)
  test(`${error.field}: ${error.reason} has the button ${button}`, () => {
    const inputs = form();
    const fix = fixOf(error, inputs);
    assert.equal(fix?.label ?? null, button);
    if (!fix) return;
    fix.apply(inputs);
    const value = button.replace("Use ", "");
    if (error.field === "run.tools") assert.deepEqual(inputs.tools, [sent.run.tools[0], value]);
    else assert.equal(inputs[error.field.replace("trigger.", "")].value, value);
  });

for (const { warning, buttons } of said.warnings)
  test(`${warning} has the buttons [${buttons}]`, () => {
    const inputs = form();
    const ways = waysOut(warning);
    assert.deepEqual(
      ways.map((way) => way.label),
      buttons,
    );
    for (const way of ways) way.apply(inputs);
    assert.equal(inputs.onAsk.value, buttons.includes("Wait for a person") ? "wait" : "");
    assert.equal(
      inputs.mode.value,
      buttons.includes("Everything unasked") ? "bypassPermissions" : "",
    );
  });
