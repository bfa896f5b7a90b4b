// Where a chat stands in the page: what differs from chat to chat, beside the list that stays.

import { get, P } from "../../kit/api.js";

const chat = document.getElementById("chat");
const blank = ["main", "side"].map((id) => document.getElementById(id).cloneNode(true));
let loaded = ["main", "side"].map((id) => document.getElementById(id));

export const here = document.getElementById("here");

/**
 * The nodes of one chat, {main, title, scroller, lines, dock, side}, and put() into the page;
 * reading() is what stands at the top of what is seen, for stand(), which shows it there again.
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
  // Turns get their heights as they come in sight, so it takes some frames.
  const stand = (read, frames = 3) => {
    scroller.scrollTop = read ? scroller.scrollTop + top(read.node) - read.at : 0;
    if (read && frames) requestAnimationFrame(() => stand(read, frames - 1));
  };
  return { main, title, scroller, lines, dock, side, put, reading, stand };
}

/** What the project lets an agent do unasked: no chat of it has more. */
export const mostOf = async (slug) => (await get(P(slug))).project.permissionMode;
