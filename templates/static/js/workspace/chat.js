// The chats of a project: the list at the left stays while the user goes from chat to chat.

import { fill } from "../kit/dom.js";
import { key } from "../kit/keys.js";
import { problem } from "../kit/parts.js";
import { onChange, where } from "../kit/shell.js";
import { frame } from "../kit/swap.js";
import { FreshPage } from "./chat/fresh.js";
import { chatList } from "./chat/list.js";
import { ChatPage } from "./chat/page.js";
import "./project/gone.js";

const slug = where.project;
const chats = `/projects/${slug}/chats`;
const list = chatList(document.getElementById("chats"), slug);
const project = document.querySelector(`.crumbs a[href="/projects/${slug}"]`).textContent;
const here = document.getElementById("here").textContent;
const loaded = where.chat;

/** The id of the chat at a URL; "" for a new chat, null for a URL of another page. */
function chatAt({ origin, pathname, search }) {
  const [, id] = /^\/([0-9a-f-]{36})$/.exec(pathname.slice(chats.length)) ?? [];
  const ours = origin === location.origin && pathname.startsWith(chats) && !search;
  return ours && (id || pathname === chats) ? (id ?? "") : null;
}

const pageOf = (id) =>
  id
    ? new ChatPage(list, slug, id, list.nameOf(id) ?? (id === loaded ? here : "Chat"))
    : new FreshPage(list, slug, project);

/** Esc: clear the search, leave a field, or else focus the list. */
function leave({ target }) {
  if (target === list.search && target.value) {
    target.value = "";
    list.refresh();
  }
  if (target.matches("input, textarea, select")) target.blur();
  else list.step(0);
}

const CHATS = { group: "Chats" };
const by = (event) => list.step(event.key === "j" ? 1 : -1);
frame(chatAt, pageOf).catch((error) =>
  fill(document.getElementById("lines"), problem(error.message)),
);
onChange(list.refresh);
key(["j", "k"], "The next chat, the chat before", by, CHATS);
key("/", "Search chats", () => list.search.focus(), CHATS);
key("Escape", "Leave the field; else to the list", leave, { ...CHATS, typing: true });
key("n", "New chat", () => location.assign(chats), CHATS);
