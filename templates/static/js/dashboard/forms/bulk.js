// Several apps at once: one merge patch or one action for all of them, with the result of each.

import { call, remove } from "../../kit/api.js";
import { button, h, icon } from "../../kit/dom.js";
import { dialog } from "../../kit/dialog.js";
import { toast } from "../../kit/toast.js";
import { plural } from "../../kit/words.js";
import { route } from "../route.js";
import { ask } from "./form.js";
import { putBack, textOf, undoable } from "./text.js";

const AS_IS = "";
const AT_ONCE = 4;

/** Patch the files of `apps`; `groups`: the names of the existing groups. */
export function editAll(apps, groups) {
  ask(`Change ${plural(apps.length, "app")}`, {
    intro: `${names(apps)}. What is left as it is stays as it is in every file.`,
    verb: `Change ${plural(apps.length, "app")}`,
    keep: `bulk ${apps.map(({ slug }) => slug).join(" ")}`,
    fields: [
      { name: "group", label: "Group", maxlength: "80", list: groups, hint: "A dash (-) for none" },
      {
        name: "expected",
        label: "Is it expected to run?",
        half: true,
        kind: "select",
        options: [
          [AS_IS, "As it is"],
          ["sometimes", "Sometimes"],
          ["always", "Always"],
          ["never", "Never"],
        ],
      },
      {
        name: "paused",
        label: "Probes",
        half: true,
        kind: "select",
        options: [
          [AS_IS, "As it is"],
          ["true", "Paused"],
          ["false", "Asked"],
        ],
      },
      {
        name: "more",
        label: "More keys, as a JSON merge patch",
        kind: "area",
        class: "input mono",
        hint: '{"tags": ["web"], "health": {"interval": "1m"}, "color": null}: null takes a key out',
      },
    ],
    async send(values) {
      const patch = patchOf(values);
      const results = await each(apps, (app) => change(app, patch));
      report("Changed", results, () => undo(results));
    },
  });
}

/** The merge patch of what was chosen and typed. */
export function patchOf({ group, expected, paused, more }) {
  const patch = { ...parsePatch(more) };
  if (group) patch.group = group === "-" ? null : group;
  if (expected) patch.expected = expected;
  if (paused) patch.paused = paused === "true" ? true : null;
  if (!Object.keys(patch).length) throw new Error("Nothing is to be changed yet: fill in a field.");
  return patch;
}

function parsePatch(text) {
  if (!text) return {};
  let value;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw issue("more", `This is no JSON: ${error.message}`);
  }
  if (value === null || typeof value !== "object" || Array.isArray(value))
    throw issue("more", "It must be a JSON object, with braces around it.");
  return value;
}

const issue = (path, message) =>
  Object.assign(new Error(message), { body: { issues: [{ path, message }] } });

async function change({ slug, source }, patch) {
  const before = source === "declared" ? await textOf("apps", slug) : null;
  const { etag } = await call("PATCH", route("apps", slug), patch, { etag: before?.etag });
  return { before, etag };
}

async function undo(results) {
  const done = results.filter(({ why }) => !why);
  const back = await each(
    done.map(({ app, value }) => ({ ...app, ...value })),
    ({ slug, before, etag }) =>
      before ? putBack("apps", slug, before.text, { etag }) : remove(route("apps", slug)),
  );
  report("Put back", back);
}

/** Run `work` for every app, a few at a time: [{app, value, why}] in the same order. */
export async function each(apps, work) {
  const results = [];
  const queue = apps.entries();
  const run = async () => {
    for (const [n, app] of queue) {
      try {
        results[n] = { app, value: await work(app), why: "" };
      } catch (error) {
        results[n] = { app, value: null, why: error.message };
      }
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, run));
  return results;
}

/** Show a toast if all succeeded, else a dialogue with each result, which stays until closed. */
export function report(verb, results, back) {
  const bad = results.filter(({ why }) => why);
  const done = plural(results.length - bad.length, "app");
  if (!bad.length) {
    if (back) undoable(`${verb} ${done}.`, back);
    else toast(`${verb} ${done}.`);
    return;
  }
  const node = dialog(
    `${verb} ${done}`,
    h("h2", { class: "big" }, `${verb} ${done}, ${bad.length} refused`),
    h(
      "ul",
      { class: "results" },
      results.map(({ app, why }) =>
        h(
          "li",
          { class: why ? "problem" : "line" },
          icon(why ? "alert" : "check", why ? "Refused" : "Done"),
          h("span", {}, h("span", { class: "strong" }, app.name), why && `: ${why}`),
        ),
      ),
    ),
    h("div", { class: "line wrap spaced" }, button("Close", { onclick: () => node.close() })),
  );
}

const names = (apps) => {
  const shown = apps.slice(0, 4).map(({ name }) => name);
  const left = apps.length - shown.length;
  return left ? `${shown.join(", ")} and ${left} more` : shown.join(", ");
};
