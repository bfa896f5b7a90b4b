// The sender of a message: the face beside it, the name above it, and how the message came.

import { h } from "../../kit/dom.js";

/** The look {letters, tone, name, how} of a sender; `how`, if present, is a node. */
export function senderOf(sender, project) {
  const link = (href, text) => h("a", { class: "link", href }, text);
  switch (sender?.kind) {
    case "user":
      return sender.id && sender.id !== "anonymous"
        ? { letters: initials(sender.id), tone: "", name: sender.id }
        : { letters: "Y", tone: "", name: "You" };
    case "client":
      return {
        letters: initials(sender.id),
        tone: "client",
        name: sender.id ?? "client",
        how: h("span", { class: "cut" }, "sent by a client over ", h("code", {}, "/mcp")),
      };
    case "chat": {
      const place = `/projects/${sender.project ?? project}/chats/${sender.sessionId}`;
      const name = sender.name || "another chat";
      return {
        letters: "C",
        tone: "agent",
        name: "Chat",
        how: h("span", { class: "cut" }, "sent by ", link(place, name)),
      };
    }
    case "trigger": {
      const place = `/projects/${project}/triggers?name=${encodeURIComponent(sender.name)}`;
      return {
        letters: "T",
        tone: "client",
        name: sender.name,
        how: h(
          "span",
          { class: "cut" },
          "fired by ",
          link(place, "its trigger"),
          ` (${sender.cause})`,
        ),
      };
    }
    default:
      return { letters: "S", tone: "", name: "The service" };
  }
}

function initials(id = "") {
  const words = id.split(/[^\p{L}\p{N}]+/u).filter(Boolean);
  const letters = words.length > 1 ? words[0][0] + words[1][0] : (words[0] ?? "?").slice(0, 2);
  return letters;
}
