// The facts about a chat, at its right side or in a sheet.

import { plusMinus } from "../../kit/bars.js";
import { button, h, icon, refill } from "../../kit/dom.js";
import { withCommas, plural, time } from "../../kit/words.js";
import { originWords, stateOf } from "../words.js";
import { ruleWords } from "./asks.js";
import { networkFacts } from "./hosts.js";
import { dollars, fullness } from "./spent.js";
import { progress, todoList } from "./todos.js";

const FILES = 30;

/** Draw the facts of `chat` into `side`. `files`: path → {added, removed}; `whole`: whether `files`
 *  covers the whole chat; `todos`: the list its agent keeps, or null; `worktree`: its node. */
export function drawFacts(side, chat, { files, todos, whole, worktree, acts }) {
  const reach = networkFacts(chat.hosts);
  refill(
    side,
    section(
      "This chat",
      h(
        "dl",
        { class: "facts" },
        rows(chat)
          .filter(Boolean)
          .map(([name, value]) => [h("dt", {}, name), h("dd", {}, value)]),
      ),
    ),
    worktree,
    todos?.length > 0 && section(`To do: ${progress(todos)}`, todoList(todos)),
    files.size > 0 && filesSection(files, whole),
    chat.instructions?.length > 0 && section("Instructions", instructionList(chat.instructions)),
    chat.allow?.length > 0 && section("Allowed in this chat", ruleList(chat.allow, acts.revoke)),
    reach && section("Network", reach),
    section(
      "Continue elsewhere",
      h(
        "div",
        { class: "line wrap" },
        button("Fork", { icon: "fork", kind: "s", onclick: acts.fork }),
        h(
          "a",
          { class: "btn s", href: acts.exportAs("md"), download: true },
          icon("load"),
          "Markdown",
        ),
        h(
          "a",
          { class: "btn s", href: acts.exportAs("jsonl"), download: true },
          icon("load"),
          "JSON lines",
        ),
      ),
    ),
    section(
      "On disk",
      h(
        "p",
        { class: "tiny quiet wrap-anywhere" },
        h("code", {}, `.chats/${chat.sessionId}.jsonl`),
      ),
    ),
  );
}

const section = (title, ...content) =>
  h("section", { class: "stack" }, h("h2", {}, title), ...content);

function rows(chat) {
  const { usage, cost, context, lastTurn, trigger, provenance } = chat;
  const model = lastTurn?.model ?? chat.model;
  const link = (href, text) => h("a", { class: "link", href }, text);
  const parent = provenance?.parentSessionId;
  return [
    ["Started by", originWords(chat) || "the service"],
    ["Started", time(chat.createdAt)],
    ["Messages", withCommas(chat.messages ?? 0)],
    lastTurn && [
      "Last turn",
      [stateOf(lastTurn.status).word, lastTurn.finishedAt && [", ", time(lastTurn.finishedAt)]],
    ],
    chat.engine && ["Engine", chat.engine],
    model && ["Model", h("span", { class: "wrap-anywhere" }, model)],
    context?.limit && ["Context", fullness(context)],
    usage?.totalTokens && ["Tokens", tokens(usage)],
    typeof cost === "number" && ["Cost", dollars(cost)],
    trigger && [
      "Trigger",
      link(
        `/projects/${chat.project}/triggers?name=${encodeURIComponent(trigger.name)}`,
        trigger.name,
      ),
    ],
    trigger?.tools?.length && ["Tools", trigger.tools.join(", ")],
    parent && [
      "Parent",
      link(
        `/projects/${provenance.parentProject || chat.project}/chats/${parent}`,
        "the chat it came from",
      ),
    ],
    chat.damagedLines && ["Damaged", plural(chat.damagedLines, "line")],
  ];
}

function tokens(usage) {
  const cached =
    usage.cacheReadTokens && Math.round((100 * usage.cacheReadTokens) / usage.totalTokens);
  return [
    withCommas(Number(usage.totalTokens)),
    cached ? h("span", { class: "quiet" }, ` ${cached} % cached`) : "",
  ];
}

/** The rules by which calls are allowed without a question, each with a button to revoke it. */
function ruleList(rules, revoke) {
  return h(
    "ul",
    { class: "stack tight" },
    rules.map((rule) =>
      h(
        "li",
        { class: "line small" },
        h("code", { class: "cut", title: rule }, ruleWords(rule)),
        button("", {
          icon: "x",
          kind: "ghost s only push",
          "aria-label": `Ask for ${ruleWords(rule)} again`,
          title: "Ask for it again",
          onclick: (event) => revoke(event, rule),
        }),
      ),
    ),
  );
}

/** The instructions that the last turn received, and those it did not, with the reason. */
function instructionList(places) {
  return h(
    "ul",
    { class: "stack tight" },
    places.map(({ name, bytes, why }) =>
      h(
        "li",
        { class: "small" },
        h(
          "span",
          { class: "line" },
          h("span", { class: "mono cut", title: name }, name),
          h("span", { class: "tiny quiet push" }, size(bytes)),
        ),
        why && h("p", { class: "tiny quiet" }, why),
      ),
    ),
  );
}

const size = (bytes) => (bytes < 1024 ? `${bytes} bytes` : `${(bytes / 1024).toFixed(1)} KiB`);

function filesSection(files, whole) {
  const shown = [...files].slice(-FILES);
  return section(
    "Files changed",
    h(
      "ul",
      { class: "stack tight" },
      shown.map(([path, { added, removed }]) =>
        h(
          "li",
          { class: "line small" },
          h("span", { class: "mono cut", title: path }, path),
          h("span", { class: "push" }, plusMinus(added, removed, { bar: false })),
        ),
      ),
    ),
    (!whole || files.size > FILES) &&
      h("p", { class: "tiny quiet" }, "By the messages that are shown; scroll up for more."),
  );
}
