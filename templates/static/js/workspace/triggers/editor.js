// One trigger: its form, its next three times, its switch, its runs. Errors stand at their field.

import { call, get, P, post, put, query, remove } from "../../kit/api.js";
import { button, fill, h, icon, keep, mark, settle } from "../../kit/dom.js";
import { fields, readForm, showErrors, writeForm } from "./form.js";
import { runRow } from "../parts.js";
import { whenWords } from "../schedule.js";
import { attempt, toast } from "../../kit/toast.js";
import { dayAndTime, relative, span, time } from "../../kit/words.js";
import { stateOf, triggerState } from "../words.js";

export function editor(main, { slug, route, name, record, catalogue, back, saved, reload }) {
  const path = `${route}/${encodeURIComponent(name)}`;
  let stored = record;
  let etag = null;
  let tagged = null; // the tag that is being asked for
  const form = h("form", { novalidate: true, autocomplete: "off" });
  const headline = h("div");
  const times = h("div", { class: "stack tight" });
  const notes = h("div", { class: "stack" });
  const recent = h("ul");
  const note = h("span", { class: "says bad push small" });
  const inputs = fields(catalogue);
  const facts = stored && !stored.invalid ? stored : null;

  const preview = settle(200, async () => {
    const { trigger } = readForm(inputs);
    fill(times, await nextTimes(route, trigger, stored, catalogue.timezone));
  });

  async function save(event) {
    event?.preventDefault();
    const target = inputs.name.value.trim();
    note.textContent = "";
    showErrors(inputs, []);
    await tagged;
    try {
      const body = { ...readForm(inputs), enabled: stored?.enabled ?? false };
      const { data } = await call("PUT", `${route}/${encodeURIComponent(target || " ")}`, body, {
        etag,
      });
      toast(data.created ? "Saved. It is off until you enable it." : "Saved.");
      await saved(target);
    } catch (error) {
      if (error.code === "stale") {
        etag = null;
        note.textContent =
          "The entry was changed meanwhile, perhaps by hand. Save again to replace it, or reload to see it.";
        return;
      }
      const left = showErrors(inputs, error.errors ?? []);
      fill(
        note,
        icon("alert"),
        error.errors?.length
          ? `${error.errors.length} ${error.errors.length === 1 ? "field needs" : "fields need"} a correction`
          : error.message,
      );
      if (left.length)
        fill(
          notes,
          left.map((text) => h("p", { class: "problem" }, icon("alert"), h("span", {}, text))),
        );
      form.querySelector("[aria-invalid]")?.focus();
    }
  }

  async function toggle(event) {
    const enabled = event.target.checked;
    await attempt(event, async () => {
      await put(path, { trigger: stored.trigger, run: stored.run, enabled }, { etag });
      await reload();
    });
    if (event.target.isConnected) event.target.checked = stored.enabled;
  }

  const run = (event) =>
    attempt(event, async () => {
      const { sessionId, state } = await post(`${path}/run`);
      toast(state === "queued" ? "Waiting for a free place." : "Started.", {
        action: "Open chat",
        act: () => location.assign(`/projects/${slug}/chats/${sessionId}`),
      });
      await history();
    });

  const discard = (event) =>
    attempt(event, async () => {
      await remove(path);
      const undo =
        facts &&
        !facts.legacy &&
        (() =>
          attempt(null, async () => {
            await put(path, { trigger: facts.trigger, run: facts.run, enabled: facts.enabled });
            await saved(name);
          }));
      toast(`${name} is deleted.`, undo ? { action: "Undo", act: undo } : {});
      await saved(null);
    });

  const convert = (event) =>
    attempt(event, async () => {
      await post(P(slug, "schedules", name, "convert"));
      toast("Converted. Its times stay as they were.");
      await saved(name);
    });

  async function history() {
    if (!stored) return;
    const { runs } = await get(query(P(slug, "runs"), { trigger: name, limit: 8 }));
    keep(
      recent,
      runs,
      (one) => one.id,
      (one) => runRow(one, { title: stateOf(one.status).word }),
    );
    if (!runs.length) fill(recent, h("li", { class: "tiny quiet" }, "Not run yet."));
  }

  function head() {
    const title = h("h1", {}, name || "New trigger");
    if (!facts) return fill(headline, h("header", { class: "line wrap" }, phoneBack(back), title));
    const last = facts.runtime?.lastRun;
    const said = last
      ? [
          "Last run ",
          time(last.finishedAt ?? last.queuedAt),
          `, ${stateOf(last.status).word.toLowerCase()}`,
          last.durationSeconds ? ` in ${span(last.durationSeconds)}` : "",
        ]
      : "Not run yet";
    const able = facts.trigger.type !== "webhook";
    return fill(
      headline,
      h(
        "header",
        { class: "line wrap" },
        phoneBack(back),
        h(
          "div",
          { class: "grow" },
          title,
          h(
            "p",
            { class: "soft small line" },
            mark(triggerState(stored)),
            h("span", {}, triggerState(stored).word, " · ", said),
          ),
        ),
        h(
          "div",
          { class: "line push" },
          !facts.legacy &&
            h(
              "label",
              { class: "switch" },
              h("input", {
                type: "checkbox",
                checked: stored.enabled,
                onchange: toggle,
                role: "switch",
              }),
              "Enabled",
            ),
          facts.legacy && button("Convert", { icon: "check", onclick: convert }),
          able && button("Run now", { icon: "play", onclick: run }),
        ),
      ),
    );
  }

  function warn() {
    const lines = stored?.invalid
      ? [
          h(
            "div",
            { class: "banner bad", role: "alert" },
            icon("alert"),
            h(
              "div",
              {},
              h("b", {}, `Line ${stored.line} of project.yaml: `),
              stored.error,
              " It never fires. Correct it by hand, or fill this form and save: that rewrites the entry.",
            ),
          ),
        ]
      : (stored?.warnings ?? []).map((text) =>
          h("div", { class: "banner warn" }, icon("alert"), h("div", {}, text)),
        );
    if (stored?.runtime?.lastError)
      lines.unshift(
        h("div", { class: "banner bad" }, icon("alert"), h("div", {}, stored.runtime.lastError)),
      );
    if (stored?.legacy)
      lines.unshift(
        h(
          "div",
          { class: "banner" },
          icon("info"),
          h(
            "div",
            {},
            "A schedule of the older form. It fires as it stands; convert it to edit it here.",
          ),
        ),
      );
    fill(notes, lines);
  }

  const bar = h(
    "div",
    { class: "savebar" },
    h(
      "button",
      { class: "btn primary", form: "tf" },
      "Save ",
      h("span", { class: "kbd" }, "Ctrl S"),
    ),
    stored && button("Delete", { icon: "trash", kind: "ghost danger", onclick: discard }),
    note,
  );

  form.id = "tf";
  form.append(headline, notes, ...inputs.nodes(times));
  form.addEventListener("submit", save);
  form.addEventListener("input", preview);
  if (stored?.legacy)
    for (const control of form.querySelectorAll(
      ".field input, .field select, .field textarea, .seg input, .grants input",
    ))
      control.disabled = true;
  fill(
    main,
    form,
    stored
      ? h(
          "aside",
          { class: "recent", "aria-label": "Recent runs" },
          h(
            "div",
            { class: "line" },
            h("h2", {}, "Recent runs"),
            h(
              "a",
              {
                class: "push tiny link",
                href: `/projects/${slug}/runs?trigger=${encodeURIComponent(name)}`,
              },
              "All",
            ),
          ),
          recent,
        )
      : null,
    !stored?.legacy && bar,
  );
  main.onkeydown = (event) => {
    if (!(event.ctrlKey || event.metaKey) || event.key !== "s") return;
    event.preventDefault();
    save();
  };
  writeForm(inputs, { name, ...(facts ?? blank()) });
  inputs.name.readOnly = name !== "";
  let clean = JSON.stringify(readForm(inputs));
  head();
  warn();
  preview();
  history();
  const same = (record) =>
    JSON.stringify([record.trigger, record.run]) === JSON.stringify([facts.trigger, facts.run]);
  /** The tag of the entry this form was filled from; one that says something else keeps the old tag. */
  const tag = () => {
    tagged = call("GET", path).then(
      (answer) => {
        if (same(answer.data.trigger)) etag = answer.etag;
      },
      () => {},
    );
  };
  if (facts && !facts.legacy) tag();
  if (name === "") inputs.name.focus();

  return {
    name,
    dirty: () => JSON.stringify(readForm(inputs)) !== clean,
    suggest(given) {
      writeForm(inputs, given);
      preview();
    },
    /** A change arrived: the live parts follow it; what was typed stays. */
    refresh(fresh) {
      if (!fresh || fresh.invalid || !facts) return;
      stored = fresh;
      if (!facts.legacy) tag();
      head();
      warn();
      preview();
      history();
    },
  };
}

const blank = () => ({
  trigger: { type: "schedule", cron: "0 9 * * 1-5" },
  run: { prompt: "", session: "new", tools: [] },
});

const phoneBack = (back) =>
  button("All", { icon: "left", kind: "ghost s narrow-only", onclick: back });

async function nextTimes(route, trigger, stored, zone) {
  if (trigger.type !== "schedule") return [];
  const words = h(
    "p",
    { class: "small" },
    whenWords(trigger),
    " ",
    h("span", { class: "quiet" }, zone),
  );
  const same =
    stored?.trigger &&
    (stored.trigger.cron ?? "") === (trigger.cron ?? "") &&
    (stored.trigger.interval ?? "") === (trigger.interval ?? "");
  const armed = same && stored.runtime?.nextRuns?.length ? stored.runtime.nextRuns : null;
  const next =
    armed ??
    (await get(query("/api/triggers/preview", { cron: trigger.cron, interval: trigger.interval }))
      .then((answer) => answer.next)
      .catch(() => []));
  if (!next.length) return [words];
  return [
    words,
    h("h2", { class: "hint" }, armed ? "Next three times" : "Would fire next, once enabled"),
    h(
      "ol",
      { class: "times" },
      next.map((iso) =>
        h(
          "li",
          { class: "time" },
          h("span", { class: "strong small" }, dayAndTime(iso, zone)),
          h("span", { class: "tiny quiet" }, relative(iso)),
        ),
      ),
    ),
  ];
}
