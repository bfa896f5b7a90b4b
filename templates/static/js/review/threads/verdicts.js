// The verdicts on the commit, and submitting the user's drafts with a verdict.

import { button, fill, h, icon, refill } from "../../kit/dom.js";
import { dialog } from "../../kit/dialog.js";
import { action } from "../../kit/palette.js";
import { problem } from "../../kit/parts.js";
import { attempt, toast } from "../../kit/toast.js";
import { plural } from "../../kit/words.js";
import { draftAbout } from "../became.js";
import { onOther } from "../state.js";
import { verdictBadges } from "../verdicts.js";
import { submit, withdraw } from "./review.js";

const CHOICES = [
  ["comment", "Comment", "Without a verdict"],
  ["approve", "Approve", "It can land as it is"],
  ["changes", "Ask for changes", "It should not land as it is"],
];
const opener = button("Submit review", { kind: "s", id: "submit-review", onclick: open });
const badges = h("span", { class: "line", id: "verdicts" });
let drafts = 0;
let mine = null;

/** Add the nodes to the page, once, at the start. */
export function drawVerdicts() {
  document.getElementById("status").after(badges);
  document.getElementById("head-actions").append(opener);
  action("Submit review", open, { icon: "send" });
  onOther(() => tellVerdicts([], 0));
}

export function tellVerdicts(given, count) {
  drafts = count;
  mine = given.find(({ own }) => own) ?? null;
  fill(badges, verdictBadges(given));
  refill(
    opener,
    icon("send"),
    h("span", { class: "phone-hide" }, "Submit review"),
    count > 0 && h("span", { class: "badge" }, plural(count, "draft")),
  );
  opener.setAttribute(
    "aria-label",
    count ? `Submit review, ${plural(count, "draft")}` : "Submit review",
  );
}

function open() {
  const box = h("textarea", {
    class: "input",
    rows: 4,
    placeholder: "About the whole commit, if you like",
    "aria-label": "About the whole commit",
  });
  const text = draftAbout(box, "submit");
  const trouble = h("div", { role: "alert" });
  const radios = CHOICES.map(([value, words, why]) =>
    h(
      "label",
      { class: "tick" },
      h("input", {
        type: "radio",
        name: "verdict",
        value,
        checked: value === (mine?.verdict ?? "comment"),
      }),
      h("span", {}, words, h("span", { class: "tiny quiet" }, ` ${why}`)),
    ),
  );
  const send = h("button", { type: "submit", class: "btn primary" }, "Submit");
  const form = h(
    "form",
    { class: "stack submit-review" },
    h("h2", { class: "big" }, "Submit review"),
    h(
      "p",
      { class: "small soft" },
      drafts
        ? `${plural(drafts, "draft")} will be sent, for everybody to see.`
        : "You have no drafts: the verdict alone is sent.",
    ),
    box,
    h("fieldset", { class: "stack tight" }, h("legend", { class: "sr" }, "Verdict"), radios),
    trouble,
    h(
      "div",
      { class: "line wrap" },
      mine &&
        button("Withdraw my verdict", {
          kind: "ghost",
          onclick: (event) => attempt(event, takeBack),
        }),
      h("span", { class: "push line" }, send),
    ),
  );
  const node = dialog("Submit review", form);
  async function takeBack() {
    await withdraw();
    node.close();
  }
  form.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey) && !send.disabled)
      form.requestSubmit();
  });
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const chosen = /** @type {HTMLInputElement} */ (form.querySelector("input:checked"));
    send.disabled = box.readOnly = true;
    try {
      await submit(chosen.value, box.value);
      text.clear();
      node.close();
      toast("Review submitted.");
    } catch (error) {
      send.disabled = box.readOnly = false;
      fill(trouble, problem(error.message));
    }
  });
}
