// What is known about a chat, and what can be done with it as a whole.

import { P, patch, post } from "../kit/api.js";
import { button, fill, h, icon } from "../kit/dom.js";
import { attempt, toast } from "../kit/toast.js";
import { plural, time } from "../kit/words.js";
import { originWords, stateOf } from "./words.js";

const number = (value) => Number(value).toLocaleString("en-GB");

export function drawFacts(side, chat) {
  const { usage, lastTurn, trigger } = chat;
  const rows = [
    ["Started by", originWords(chat)],
    ["Started", time(chat.createdAt)],
    ["Messages", number(chat.messages ?? 0)],
    lastTurn && ["Last turn", stateOf(lastTurn.status).word],
    chat.engine && ["Engine", chat.engine],
    chat.model && ["Model", chat.model],
    usage?.totalTokens && ["Tokens", number(usage.totalTokens)],
    trigger && [
      "Trigger",
      h(
        "a",
        {
          class: "link",
          href: `/projects/${chat.project}/triggers?name=${encodeURIComponent(trigger.name)}`,
        },
        trigger.name,
      ),
    ],
    trigger?.tools?.length && ["Tools", trigger.tools.join(", ")],
    chat.provenance?.parentSessionId && [
      "Parent",
      h(
        "a",
        {
          class: "link",
          href: `/projects/${chat.provenance.parentProject ?? chat.project}/chats/${chat.provenance.parentSessionId}`,
        },
        "the chat it came from",
      ),
    ],
    chat.damagedLines && ["Damaged", plural(chat.damagedLines, "line")],
  ];
  fill(
    side,
    h(
      "section",
      { class: "stack" },
      h("h2", {}, "This chat"),
      h(
        "dl",
        { class: "facts" },
        rows.filter(Boolean).map(([name, value]) => [h("dt", {}, name), h("dd", {}, value)]),
      ),
    ),
    h(
      "section",
      { class: "stack" },
      h("h2", {}, "On disk"),
      h(
        "p",
        { class: "tiny quiet wrap-anywhere" },
        h("code", {}, `.chats/${chat.sessionId}.jsonl`),
      ),
    ),
  );
}

/** Rename, fork, archive: in the top bar, beside the name. */
export function menu(chat, reload) {
  const route = P(chat.project, "chats", chat.sessionId);
  let place = document.getElementById("acts");
  if (!place) {
    place = h("div", { class: "line acts", id: "acts" });
    document.getElementById("palette").before(place);
  }
  const rename = (event) => renameHere(chat, route, reload, event.currentTarget);
  const fork = (event) =>
    attempt(event, async () => {
      const { chat: made } = await post(`${route}/fork`, {});
      location.assign(`/projects/${made.project}/chats/${made.sessionId}`);
    });
  const archive = (event) =>
    attempt(event, async () => {
      const archived = !chat.archived;
      await post(`${route}/archive`, { archived });
      toast(archived ? "Archived." : "Back among the chats.", {
        action: "Undo",
        act: () =>
          attempt(null, async () => {
            await post(`${route}/archive`, { archived: !archived });
            await reload();
          }),
      });
      await reload();
    });
  const about = (event) =>
    event.currentTarget.setAttribute(
      "aria-expanded",
      String(document.getElementById("side").classList.toggle("open")),
    );
  const acts = [
    button("About", {
      icon: "info",
      kind: "ghost acting about",
      "aria-expanded": "false",
      "aria-controls": "side",
      onclick: about,
    }),
    button("Rename", { icon: "pencil", kind: "ghost acting", onclick: rename }),
    button("Fork", { icon: "fork", kind: "ghost acting", onclick: fork }),
    button(chat.archived ? "Unarchive" : "Archive", {
      icon: "archive",
      kind: "ghost acting",
      onclick: archive,
    }),
  ];
  const focused = [...place.children].indexOf(document.activeElement);
  fill(place, chat.archived && h("span", { class: "badge line" }, "Archived"), acts);
  place.children[focused]?.focus();
}

function renameHere(chat, route, reload, back) {
  const crumb = document.getElementById("here");
  const input = h("input", {
    class: "input rename",
    value: chat.name,
    "aria-label": "Name of this chat; empty for an automatic one",
    maxlength: "200",
  });
  const end = () => {
    input.replaceWith(crumb);
    back.focus();
  };
  let done = false;
  const save = async () => {
    if (done) return;
    done = true;
    end();
    const name = input.value.trim();
    if (name === chat.name) return;
    await attempt(null, async () => {
      await patch(route, { name: name || null });
      await reload();
    });
  };
  input.addEventListener("keydown", (event) => {
    if (event.key === "Enter") save();
    if (event.key === "Escape") {
      done = true;
      end();
    }
  });
  input.addEventListener("blur", save);
  crumb.replaceWith(input);
  input.select();
}
