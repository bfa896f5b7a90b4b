// Parts several pages of the workspace share: project tabs, a run as a row, the runbook example.

import { h, mark } from "../kit/dom.js";
import { span, time } from "../kit/words.js";
import { stateOf } from "./words.js";

export function tabs(slug, current, counts = {}) {
  const base = `/projects/${slug}`;
  const items = [
    ["Overview", base, ""],
    ["Chats", `${base}/chats`, counts.chats],
    ["Triggers", `${base}/triggers`, counts.triggers],
    ["Runs", `${base}/runs`, ""],
    ["Settings", `${base}/settings`, ""],
  ];
  return h(
    "nav",
    { class: "tabs", "aria-label": "Of this project" },
    items.map(([name, href, count]) =>
      h(
        "a",
        { class: "tab", href, "aria-current": name === current && "page" },
        name,
        count ? h("span", { class: "count" }, String(count)) : null,
      ),
    ),
  );
}

/** One run as a row: state, trigger, when, how long, why; `of` names its project. */
export function runRow(run, { of = "", title = run.trigger ?? "curator" } = {}) {
  const look = stateOf(run.status);
  const label = run.sessionId
    ? h("a", { class: "over cut", href: `/projects/${run.project}/chats/${run.sessionId}` }, title)
    : h("span", { class: "cut" }, title);
  const about = [of, run.cause, run.durationSeconds !== null && span(run.durationSeconds)];
  return h(
    "li",
    {},
    h(
      "div",
      { class: "row" },
      mark(look),
      h(
        "div",
        {},
        label,
        h("span", { class: "tiny quiet cut" }, about.filter(Boolean).join(" · ")),
        run.reason &&
          h(
            "span",
            {
              class: run.status === "failed" ? "tiny says bad clamp" : "tiny quiet clamp",
              title: run.reason,
            },
            run.reason,
          ),
      ),
      h(
        "span",
        { class: "tiny quiet nowrap" },
        time(run.finishedAt ?? run.startedAt ?? run.queuedAt),
      ),
    ),
  );
}

export const RUNBOOK = `#!runbook
\`\`\`Glob name=files
{"pattern": "**/*"}
\`\`\`
\`\`\`Bash timeout=60
git status --short 2>/dev/null || ls -la
\`\`\`
Seen: {{files.output}}
`;
