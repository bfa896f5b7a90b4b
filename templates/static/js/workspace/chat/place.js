// The place of a chat in the page: the nodes that differ from chat to chat, beside the list.

import { get, P } from "../../kit/api.js";

const chat = document.getElementById("chat");
const blank = ["main", "side"].map((id) => document.getElementById(id).cloneNode(true));
let loaded = ["main", "side"].map((id) => document.getElementById(id));

export const here = document.getElementById("here");

/**
 * The nodes of one chat, {main, title, scroller, lines, dock, side}, with put(), which puts them
 * into the page, reading(), which returns the reading place, and stand(), which scrolls back to it.
 */
export function place() {
  const [main, side] =
    loaded ?? /** @type {HTMLElement[]} */ (blank.map((node) => node.cloneNode(true)));
  loaded = null;
  const [title, scroller, lines, dock] = ["h1", ".script", "#lines", "#dock"].map((part) =>
    main.querySelector(part),
  );
  const put = ({ facts }) => {
    for (const node of [main, side]) {
      const old = document.getElementById(node.id);
      if (old !== node) old.replaceWith(node);
    }
    side.hidden = !facts;
    chat.classList.toggle("no-side", !facts);
  };
  const top = (node) => node.getBoundingClientRect().top - scroller.getBoundingClientRect().top;
  const reading = () => {
    const turns = [...lines.querySelectorAll(".turn-block")];
    const node = turns.find((one) => top(one) + one.offsetHeight > 0);
    return node && scroller.scrollTop < 0 ? { node, at: top(node) } : null;
  };
  // Turns get their heights when they become visible, so it takes several frames.
  const stand = (read, frames = 3) => {
    scroller.scrollTop = read ? scroller.scrollTop + top(read.node) - read.at : 0;
    if (read && frames) requestAnimationFrame(() => stand(read, frames - 1));
  };
  return { main, title, scroller, lines, dock, side, put, reading, stand };
}

/** The permission mode of the project, which no chat of it can exceed. */
export const mostOf = async (slug) => (await get(P(slug))).project.permissionMode;
