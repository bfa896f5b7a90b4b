// The head of a commit: title, status, hash, author, branch, size, message.

import { button, fill, h, icon, mark, refill, visible } from "../../kit/dom.js";
import { copy } from "../../kit/toast.js";
import { time } from "../../kit/words.js";
import { size } from "../diff/notes.js";
import { onOther, state } from "../state.js";
import { statusOf } from "../statuses.js";

const node = (id) => document.getElementById(id);
const LONG = 600; // characters of a message that is shown unfolded
const BRANCH = {
  moved: "the branch points elsewhere",
  missing: "there is no such branch",
  discovered: "found here, not recorded",
  merged: "merged",
};
const EVIDENCE = {
  record: "by its record",
  ancestor: "as it is",
  "change-id": "by its change id",
  "patch-id": "by its patch",
  number: "by its number",
  "author-date": "by its author and date",
};
const CHANGE_ID = /^change-id: *\S+$/gim; // in the last paragraph: not meant for readers
const SET = /^(?:[ \t]|[-*+>|] ?|\d+[.)] |[\w-]+: )/m; // marks a paragraph whose line breaks matter
let said = "";
let told = null; // the message as drawn: not redrawn without need, since part of it may be selected

/** Until the next commit is read, show its hash as its name. */
onOther(() => {
  said = "";
  told = null;
  const name = state.sha.slice(0, 7);
  document.title = node("here").textContent = name;
  node("title").textContent = "…";
  for (const id of ["status", "facts", "message"]) fill(node(id));
});

/** Draw the head; parts whose content has not changed are not touched. */
export function tellHead() {
  const { commit } = state;
  const { files: _files, review: _review, progress: _progress, ...shown } = commit;
  const now = JSON.stringify(shown);
  if (now === said) return;
  said = now;
  const title = visible(commit.pr.title || commit.subject || "(no subject)");
  node("title").textContent = title;
  node("here").textContent = title;
  document.title = `${title} · ${commit.short}`;
  refill(node("status"), status(commit));
  refill(node("facts"), facts(commit));
  if (told === commit.pr.body) return;
  told = commit.pr.body;
  fill(node("message"), message(told));
}

function status({ status: name, github }) {
  const { word, ...shape } = statusOf(name);
  const number = github?.number ? ` #${github.number}` : "";
  const badge = h(
    "span",
    { class: `badge status-${name}` },
    mark({ ...shape, word }, false),
    word + number,
  );
  return github?.url
    ? h(
        "a",
        { href: github.url, rel: "noreferrer", target: "_blank", title: "Open on GitHub" },
        badge,
      )
    : badge;
}

function facts({ sha, short, author, authored, parents, branch, landed, additions, deletions }) {
  return [
    button(short, {
      kind: "ghost s hash mono",
      "aria-label": `Copy the hash ${sha}`,
      title: sha,
      onclick: () => copy(sha, `Copied ${short}`),
    }),
    h("span", { title: author.email }, author.name),
    h("span", {}, time(authored)),
    branch && branchFact(branch),
    parents.length > 1 && h("span", {}, "merge, shown against its first parent"),
    landed &&
      h(
        "span",
        { title: landed.sha },
        `landed ${EVIDENCE[landed.by] ?? ""} as `,
        h("span", { class: "mono" }, landed.sha.slice(0, 7)),
      ),
    additions !== null && size(additions, deletions),
  ].filter(Boolean);
}

function branchFact({ name, status: word, discovered }) {
  const odd = word === "moved" || word === "missing";
  const others = discovered?.filter((other) => other !== name) ?? [];
  return h(
    "span",
    {
      class: odd ? "line tight-line says warn" : "line tight-line",
      title: others.length ? `Also here: ${others.join(", ")}` : null,
    },
    icon(odd ? "alert" : "branch"),
    h("span", { class: "mono cut" }, name),
    BRANCH[word] && h("span", {}, ` ${BRANCH[word]}`),
  );
}

/** The message as paragraphs; line breaks are kept in lists, quotes and indented lines only. */
function message(body) {
  const text = (body ?? "").trim();
  const parts = text.split(/\n{2,}/);
  const last = parts.pop().replace(CHANGE_ID, "").trim();
  const paragraphs = [...parts, last]
    .filter(Boolean)
    .map((part) => h("p", { class: SET.test(part) ? "set" : null }, part));
  if (text.length <= LONG && paragraphs.length <= 4) return paragraphs;
  const rest = h(
    "details",
    {},
    h("summary", { class: "link small" }, "The whole message"),
    paragraphs.slice(2),
  );
  return [paragraphs.slice(0, 2), paragraphs.length > 2 && rest];
}
