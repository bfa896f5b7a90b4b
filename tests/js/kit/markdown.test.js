import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { markdown } from "../../../templates/static/js/kit/markdown.js";
import { outline } from "./outline.js";

const shared = new URL("../../fixtures/markdown.json", import.meta.url);

const html = (text, options) => markdown(text, options).innerHTML.replaceAll(/ class="[^"]*"/g, "");
const link = (href, words) =>
  `<a target="_blank" rel="noreferrer noopener" href="${href}">${words}</a>`;
const order = (text) => text.replaceAll(/<a ([^>]*)>/g, (_, all) => `<a ${all.split(" ").sort()}>`);
const same = (found, wanted) => assert.equal(order(found), order(wanted));

test("emphasis, code and struck words stand in a paragraph", () => {
  assert.equal(
    html("**bold** *leaning* _so_ `a * b` ~~gone~~ 2 * 3 * 4 snake_case_name"),
    "<p><strong>bold</strong> <em>leaning</em> <em>so</em> <code>a * b</code> <s>gone</s>" +
      " 2 * 3 * 4 snake_case_name</p>",
  );
});

test("HTML in a text is shown and does not act", () => {
  const found = markdown("<img src=x onerror=alert(1)>\n\n<script>alert(2)</script>");
  assert.equal(found.querySelector("img, script"), null);
  assert.match(found.textContent, /<img src=x onerror=alert\(1\)>/);
});

test("only web and mail addresses become links", () => {
  same(html("[a](https://a.example/b_(c))"), `<p>${link("https://a.example/b_(c)", "a")}</p>`);
  same(html("<mailto:a@b.example>"), `<p>${link("mailto:a@b.example", "mailto:a@b.example")}</p>`);
  assert.equal(html("[x](javascript:alert(1))"), "<p>[x](javascript:alert(1))</p>");
  assert.equal(html("[x](notes.md)"), "<p>[x](notes.md)</p>");
});

test("a path becomes a link where the page knows its address", () => {
  const resolve = (path) => (path === "notes.md" ? "/files/notes.md" : undefined);
  assert.equal(
    html("[x](notes.md) [y](other.md)", { resolve }),
    '<p><a href="/files/notes.md">x</a> [y](other.md)</p>',
  );
});

test("the end of a sentence does not belong to a bare address", () => {
  const at = "https://a.example/b";
  same(html(`See ${at}, (${at}).`), `<p>See ${link(at, at)}, (${link(at, at)}).</p>`);
});

test("headings go down one level at a time from the level of the page", () => {
  assert.equal(html("# One\n### Three\n## Two ##"), "<h2>One</h2><h3>Three</h3><h3>Two</h3>");
  assert.equal(html("# One", { heading: 4 }), "<h4>One</h4>");
  assert.equal(html("One\n===\nTwo\n---"), "<h2>One</h2><h3>Two</h3>");
});

test("lists nest, count from where they begin, and have ticks", () => {
  assert.equal(
    html("3. c\n4. d\n   - e\n   - f"),
    '<ol start="3"><li><p>c</p></li><li><p>d</p><ul><li><p>e</p></li><li><p>f</p></li></ul></li></ol>',
  );
  const tasks = [...markdown("- [x] done\n- [ ] open").querySelectorAll("li")];
  assert.deepEqual(
    tasks.map((task) => task.querySelector("[aria-label=Done]") !== null),
    [true, false],
  );
  assert.match(tasks[1].textContent, /^Not done\s*open$/);
});

test("a list with blank lines between its entries is loose", () => {
  assert.equal(markdown("- a\n\n- b").querySelector("ul").className, "loose");
  assert.equal(markdown("- a\n- b").querySelector("ul").className, "");
});

test("a quote may go on without its sign, and holds other blocks", () => {
  assert.equal(
    html("> a\nb\n> - c"),
    "<blockquote><p>a b</p><ul><li><p>c</p></li></ul></blockquote>",
  );
});

test("a table keeps its columns, its sides and a bar that is escaped", () => {
  const found = markdown("| a | b |\n|:-:|--:|\n| 1 \\| 2 | 3 |\n| 4 |");
  const cells = [...found.querySelectorAll("td")].map((cell) => cell.textContent);
  assert.deepEqual(cells, ["1 | 2", "3", "4", ""]);
  const sides = [...found.querySelectorAll("th")].map((cell) => cell.className);
  assert.deepEqual(sides, ["middle", "end"]);
});

test("a fence ends with as many signs as it began, or with the text", () => {
  const code = (text) => markdown(text).querySelector("pre").textContent;
  assert.equal(code("````\n```\ninside\n```\n````\nafter"), "```\ninside\n```");
  assert.equal(code("```py\nx = 1"), "x = 1");
  assert.equal(code("    a\n      b"), "a\n  b");
});

test("a new line is a blank, or a break where that is wanted", () => {
  assert.equal(html("a\nb"), "<p>a b</p>");
  assert.equal(html("a\nb", { breaks: true }), "<p>a<br>b</p>");
  assert.equal(html("a  \nb\\\nc"), "<p>a<br>b<br>c</p>");
});

test("hostile text costs little", () => {
  const begun = performance.now();
  for (const piece of ["*", "_", "[", "`", "> ", "- ", "**a ", "![[", "~~", "<http://"])
    markdown(piece.repeat(20_000 / piece.length));
  assert.ok(performance.now() - begun < 5000);
});

test("what review renders on the service looks the same here", () => {
  for (const [name, { text, nodes }] of Object.entries(JSON.parse(readFileSync(shared))))
    assert.deepEqual(outline(markdown(text, { heading: 1 })), nodes, name);
});
