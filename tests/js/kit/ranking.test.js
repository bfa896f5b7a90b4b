import assert from "node:assert/strict";
import { test } from "node:test";

import { PAGE, rankEntries } from "../../../templates/static/js/kit/ranking.js";

const action = (label, group = PAGE) => ({ label, hint: "", group });
const place = (label, part, hint = "") => ({ label, part, hint, url: `/${part}/${label}` });
const ACTIONS = [action("Demolish the shed"), action("Theme: dark", "Everywhere")];
const PLACES = [place("Demo: triggers", "main"), place("Demo app", "dashboard")];

function shown(words, { kept = [], actions = ACTIONS, places = PLACES, answered = true } = {}) {
  const groups = rankEntries({ words, kept, actions, places, answered });
  return groups.map(([group, entries]) => [group, ...entries.map(({ label }) => label)]);
}

test("what the page can do stands first, what can be done everywhere last", () => {
  assert.deepEqual(shown("dem"), [
    [PAGE, "Demolish the shed"],
    ["Workspace", "Demo: triggers"],
    ["Apps", "Demo app"],
  ]);
  assert.deepEqual(shown("", { places: [] }), [
    [PAGE, "Demolish the shed"],
    ["Everywhere", "Theme: dark"],
  ]);
});

test("recent places stand first while nothing is typed, and only once", () => {
  const kept = [PLACES[1]];
  assert.deepEqual(shown("", { kept, actions: [] }), [
    ["Recent", "Demo app"],
    ["Workspace", "Demo: triggers"],
  ]);
  assert.deepEqual(shown("demo", { kept, actions: [] }), [
    ["Workspace", "Demo: triggers"],
    ["Apps", "Demo app"],
  ]);
});

test("the part of the best place stands first", () => {
  const places = [...PLACES].reverse();
  assert.deepEqual(
    shown("demo", { actions: [], places }).map(([group]) => group),
    ["Apps", "Workspace"],
  );
});

test("words fit at the beginning of a word, and inside one from three letters on", () => {
  const actions = [action("Search all chats")];
  const found = (words) => shown(words, { actions, places: [] }).length;
  assert.deepEqual(["se", "ch al", "ALL S", "arc", "hat"].map(found), [1, 1, 1, 1, 1]);
  assert.deepEqual(["ar", "at", "search runs"].map(found), [0, 0, 0]);
});

test("until the answer is here, places of the one before are shown where they fit", () => {
  assert.deepEqual(shown("trig", { actions: [], answered: false }), [
    ["Workspace", "Demo: triggers"],
  ]);
  assert.equal(shown("trig", { actions: [], answered: true }).length, 2);
});

test("a page offers twelve actions at most", () => {
  const actions = Array.from({ length: 20 }, (_, n) => action(`Do ${n}`));
  assert.equal(shown("do", { actions, places: [] })[0].length, 1 + 12);
});
