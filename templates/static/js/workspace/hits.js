// A message that a search found: its place, and the text with the words.

import { h, icon } from "../kit/dom.js";
import { time } from "../kit/words.js";

/** One hit of GET /api/search as a row; `of` names its project where there may be several. */
export const hitRow = (hit, of = "") =>
  h(
    "li",
    {},
    h(
      "div",
      { class: "row hit-row" },
      icon("chat"),
      h(
        "div",
        { class: "two-lines grow" },
        h(
          "a",
          {
            class: "over cut",
            href: `/projects/${hit.project}/chats/${hit.sessionId}#m${hit.offset}`,
          },
          hit.name,
        ),
        h(
          "span",
          { class: "small soft clamp" },
          hit.snippet.map(({ text, marked }) => (marked ? h("mark", {}, text) : text)),
        ),
        h(
          "span",
          { class: "tiny quiet cut" },
          [of, hit.role === "user" ? "asked" : "answered", hit.archived && "archived"]
            .filter(Boolean)
            .join(" · "),
        ),
      ),
      h("span", { class: "tiny quiet nowrap" }, time(hit.timestamp)),
    ),
  );
