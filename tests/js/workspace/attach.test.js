import assert from "node:assert/strict";
import { test } from "node:test";

import { pictures } from "../../../templates/static/js/workspace/chat/attach.js";

const line = (path) => `Look.\n\nAttached files:\n- ${path} (image/png, 48 bytes)\n`;
const sources = (prompt) =>
  [...(pictures(prompt, "alpha")?.querySelectorAll("img") ?? [])].map((node) =>
    node.getAttribute("src"),
  );

test("the pictures of a message are shown, also where the agent works elsewhere", () => {
  const shown = ["/api/projects/alpha/attachments/shot-0a1b2c3d4e5f.png"];
  const short = ".svc/attachments/shot-0a1b2c3d4e5f.png";

  assert.deepEqual(sources(line(short)), shown);
  assert.deepEqual(sources(line(`/home/a b/.svc/projects/alpha/${short}`)), shown);
  assert.equal(pictures(line("other/shot.png"), "alpha"), null);
});
