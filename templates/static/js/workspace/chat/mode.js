// The permission mode of a chat: its own, up to what the project's mode allows.

import { h, icon } from "../../kit/dom.js";

/** From the least permissive to the most. */
const MODES = ["plan", "default", "acceptEdits", "bypassPermissions"];
const WORDS = {
  plan: "Plan only",
  default: "Ask first",
  acceptEdits: "Edits unasked",
  bypassPermissions: "All unasked",
};

/** The options of a choice; `most` is the project's mode, and modes above it are disabled. */
const options = (most, among = MODES) =>
  among.map((mode) =>
    h("option", { value: mode, disabled: MODES.indexOf(mode) > MODES.indexOf(most) }, WORDS[mode]),
  );

/** modeChoice(change) → {node, update(own, most)}: the choice beside the composer. `change(event,
 *  mode)` receives a mode, or null for the project's. */
export function modeChoice(change) {
  const node = h("select", {
    class: "input slim modes",
    disabled: true, // until the mode is known; it has its place already, so that nothing moves then
    "aria-label": "What agents may do unasked in this chat",
    title: "From the next message on",
    onchange: (event) => change(event, node.value || null),
  });
  const update = (own, most) => {
    node.disabled = false;
    node.replaceChildren(h("option", { value: "" }, `${WORDS[most]} (project)`), ...options(most));
    node.value = own ?? "";
  };
  return { node, update };
}

/** The offer under a finished plan: carry it out, in a mode chosen here. `most` is the project's
 *  mode; `goOn` receives the event and the mode. Null if no mode is allowed. */
export function planOffer(most, goOn) {
  const able = MODES.filter(
    (mode) => mode !== "plan" && MODES.indexOf(mode) <= MODES.indexOf(most),
  );
  if (!able.length) return null;
  const mode = h(
    "select",
    { class: "input slim", "aria-label": "What it may do unasked" },
    options(most, able),
  );
  mode.value = able.includes("acceptEdits") ? "acceptEdits" : able.at(-1);
  return h(
    "div",
    { class: "banner outcome planned" },
    icon("file"),
    h("div", {}, h("b", {}, "A plan"), ": nothing was changed."),
    h(
      "span",
      { class: "line wrap" },
      mode,
      h(
        "button",
        {
          type: "button",
          class: "btn s primary",
          onclick: (event) => goOn(event, mode.value),
          "aria-keyshortcuts": "Y",
        },
        "Go on with this plan ",
        h("span", { class: "kbd", "aria-hidden": "true" }, "Y"),
      ),
    ),
  );
}
