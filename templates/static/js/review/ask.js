// Asking an agent about threads: a dialogue with the message to send, editable, and its recipient.

import { get, post, query } from "../kit/api.js";
import { dialog } from "../kit/dialog.js";
import { button, fill, h } from "../kit/dom.js";
import { draftOf, keepDraft, offerLeft } from "../kit/drafts.js";
import { partLink } from "../kit/rail.js";
import { attempt, toast } from "../kit/toast.js";
import { plural } from "../kit/words.js";
import { tilde } from "./paths.js";
import { route } from "./route.js";

const MAKE = "make";
const chatOf = (desk, chat) => JSON.stringify([desk.project, chat]);

/** The URL of a chat's page, on the main port, to which the rail links too. */
export function chatPage(project, chat) {
  const [slug, id] = [project, chat].map(encodeURIComponent);
  return new URL(`/projects/${slug}/chats/${id}`, partLink("main")?.href ?? location.href).href;
}

/**
 * Ask about all open threads of `wanted`, {repo?, sha?, stack?, thread?}. `done()` is called once
 * the message was sent.
 */
export async function askAgent(event, project, wanted, done) {
  await attempt(event, async () => {
    const offer = await get(query(route("projects", project, "ask"), wanted));
    show(project, wanted, offer, done);
  });
}

function show(project, wanted, offer, done) {
  const title = `Ask an agent about ${plural(offer.threads.length, "thread")}`;
  const where = choices(offer);
  const text = h("textarea", { class: "input mono", id: "ask-message", rows: 14 });
  const forget = keepMessage(text, offer.message, `ask ${JSON.stringify([project, wanted])}`);
  const send = button("Send", { kind: "primary", icon: "send", type: "submit" });
  const form = h(
    "form",
    { class: "stack askform", novalidate: true, "aria-label": title },
    field("ask-where", "Where", where),
    field("ask-message", "Message", text),
    h("div", { class: "line" }, send, button("Cancel", { onclick: () => node.close() })),
  );
  form.addEventListener("keydown", (event) => {
    event.stopPropagation();
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) form.requestSubmit();
  });
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    attempt({ currentTarget: send }, async () => {
      const { repo, sha } = wanted;
      const threads = offer.threads.map(({ thread }) => thread);
      const to = where.value === MAKE ? { make: true } : target(where.value);
      const body = { repo, sha, threads, message: text.value, ...to };
      const sent = await post(route("projects", project, "ask"), body);
      forget();
      node.close();
      tell(sent);
      await done?.();
    });
  });
  const node = dialog(title, h("h2", { class: "big" }, title), form);
  node.classList.add("ask");
  text.focus();
  text.setSelectionRange(0, 0);
  text.scrollTop = 0;
}

/**
 * Fill in the message. An earlier edit of the same message is restored, one of another message is
 * offered below. The text is kept until the returned function is called, after sending.
 */
function keepMessage(text, offered, name) {
  const kept = JSON.parse(draftOf(name) || "{}");
  const same = kept.offered === offered;
  let before = same ? kept.before : kept.text;
  text.value = same ? kept.text : offered;
  const keep = () => {
    const changed = before || text.value !== offered;
    keepDraft(name, changed ? JSON.stringify({ offered, text: text.value, before }) : "");
  };
  text.addEventListener("input", keep);
  const older = h("div", { class: "hint line wrap" });
  const tell = () => {
    older.hidden = !before;
    fill(
      older,
      h(
        "span",
        { class: "grow clamp wrap-anywhere", title: before },
        `Typed before what is asked about changed: ${before}`,
      ),
      button("Put it here", { kind: "s", onclick: () => swap(text.value, before) }),
      button("Forget it", { kind: "ghost s", onclick: () => swap("", text.value) }),
    );
  };
  const swap = (out, into) => {
    before = out;
    text.value = into;
    keep();
    tell();
    text.focus();
  };
  tell();
  queueMicrotask(() => text.after(older)); // by then it is in its form
  const take = (given) => {
    const said = JSON.stringify({ offered, text: text.value });
    const mine = text.value === offered ? null : { text: said };
    swap(before, JSON.parse(given).text);
    return mine;
  };
  queueMicrotask(() => offerLeft(text, name, take, (given) => JSON.parse(given).text));
  return () => keepDraft(name, "");
}

function target(value) {
  const [project, chat] = JSON.parse(value);
  return { project, chat };
}

function tell(sent) {
  const [failed] = sent.unmarked;
  if (failed) toast(`Sent, but the threads do not show it: ${failed.error}`, { bad: true });
  else toast("Sent.", { action: "Open the chat", act: () => location.assign(sent.url) });
}

/** The choices: a new or existing chat of each project that works there, or a new project. */
function choices({ desks, suggested, folder }) {
  const chosen = suggested && JSON.stringify([suggested.project, suggested.chat]);
  const option = (value, label) => h("option", { value, selected: value === chosen }, label);
  const groups = desks.map((desk) =>
    h(
      "optgroup",
      { label: `${desk.name} · ${tilde(desk.directory)}` },
      option(chatOf(desk, null), `New chat in ${desk.name}`),
      desk.chats.map((chat) => option(chatOf(desk, chat.id), `Continue: ${chat.name}`)),
    ),
  );
  const made = h("option", { value: MAKE }, `New project that works in ${tilde(folder)}`);
  return h("select", { class: "input", id: "ask-where" }, groups, !desks.length && made);
}

const field = (id, label, node) =>
  h("div", { class: "field" }, h("label", { for: id }, label), node);
