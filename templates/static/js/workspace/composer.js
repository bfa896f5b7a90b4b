// The box a message is written in. Its text is kept per chat until it was sent.

import { get, query } from "../kit/api.js";
import { button, fill, h, icon } from "../kit/dom.js";
import { RUNBOOK } from "./parts.js";
import { attempt } from "../kit/toast.js";

/** composer({key, project, send({prompt, model}), label}) → {node, focus, placeholder, label, actions} */
export function composer({ key, project, send, label = "Send" }) {
  const store = `svc:draft:${key}`;
  const box = h("textarea", {
    id: "say",
    rows: "3",
    maxlength: "100000",
    value: sessionStorage.getItem(store) ?? "",
  });
  const models = h(
    "select",
    { class: "input slim", "aria-label": "Model of this message" },
    h("option", { value: "" }, "Model: automatic"),
  );
  const word = h("span", {}, label);
  const hint = h("p", { class: "hint composer-hint" });
  const actions = h("span", { class: "line push" });

  const grow = () => {
    box.rows = Math.min(14, Math.max(3, box.value.split("\n").length));
    sessionStorage.setItem(store, box.value);
  };
  const submit = (event) => {
    event.preventDefault();
    const prompt = box.value;
    if (!prompt.trim()) {
      box.focus();
      return;
    }
    attempt({ currentTarget: sendButton }, async () => {
      await send({ prompt, model: models.value });
      if (box.value === prompt) box.value = "";
      grow();
    });
  };
  const onkeydown = (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) submit(event);
    if (event.key === "Escape") box.blur();
  };
  box.addEventListener("input", grow);
  box.addEventListener("keydown", onkeydown);

  const sendButton = h(
    "button",
    { class: "btn primary" },
    word,
    " ",
    h("span", { class: "kbd phone-hide" }, "Ctrl ↵"),
  );
  const example = () => {
    box.value = box.value.trim() ? box.value : RUNBOOK;
    grow();
    box.focus();
  };
  const node = h(
    "div",
    {},
    h(
      "form",
      { class: "composer", onsubmit: submit },
      h("label", { class: "sr", for: "say" }, "Message"),
      box,
      h(
        "div",
        { class: "line wrap" },
        models,
        button("Runbook", {
          kind: "ghost phone-hide",
          title: "Put an example runbook here",
          onclick: example,
        }),
        actions,
        sendButton,
      ),
    ),
    hint,
  );
  grow();
  offer(models, hint, project);
  return {
    node,
    actions,
    focus: () => box.focus(),
    placeholder: (text) => box.setAttribute("placeholder", text),
    label: (text) => (word.textContent = text),
  };
}

/** The models that can be chosen; where no model is set up, what can be written instead. */
async function offer(models, hint, project) {
  const [{ models: all }, engines] = await Promise.all([
    get(query("/api/models", { project })),
    get("/api/engines"),
  ]).catch(() => [{ models: [] }, {}]);
  const list = all.filter((model) => model.engine !== "runbook");
  models.append(...list.map((model) => h("option", { value: model.id }, model.label ?? model.id)));
  models.hidden = list.length === 0;
  if (engines.default !== "runbook") return;
  fill(
    hint,
    icon("info"),
    h(
      "span",
      {},
      "No model is set up: plain text ends with a notice. A message that starts with ",
      h("code", {}, "#!runbook"),
      " runs without one.",
    ),
  );
}
