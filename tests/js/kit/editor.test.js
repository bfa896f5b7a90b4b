import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";

import { editorLink, inEditor } from "../../../templates/static/js/kit/editor.js";

beforeEach(() => {
  document.body.setAttribute("data-editor", "zed://file{path}:{line}");
});

test("a line leads to its file below the root, every part of the path encoded", () => {
  assert.equal(inEditor("/src/api", "pay/refunds.py", 12), "zed://file/src/api/pay/refunds.py:12");
  assert.equal(
    inEditor("/src/a b", "50%/what?#&+ü.py", 3),
    "zed://file/src/a%20b/50%25/what%3F%23%26%2B%C3%BC.py:3",
  );
  assert.equal(inEditor("/src/$&", "$1.py"), "zed://file/src/%24%26/%241.py:1");
});

test("what is not below the root is not offered, nor a name that is no text", () => {
  for (const path of ["../x", "a/../../x", "/etc/passwd", "/src/api-other/x", "caf\\xE9.txt"])
    assert.equal(inEditor("/src/api", path, 1), null, path);
  assert.equal(inEditor("", "x", 1), null);
  assert.equal(inEditor("/src/api", "/src/api/x", 1), "zed://file/src/api/x:1");
});

test("without an editor there is no link, with one it says where it leads", () => {
  assert.equal(
    editorLink("/src", "x.py", 4).getAttribute("aria-label"),
    "Open x.py, line 4, in the editor",
  );

  document.body.removeAttribute("data-editor");

  assert.equal(editorLink("/src", "x.py", 4), null);
});
