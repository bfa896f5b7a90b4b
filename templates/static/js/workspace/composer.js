// The box in which a message is written. Its text is kept per chat until it is sent.

import { get, query } from "../kit/api.js";
import { button, fill, h, icon } from "../kit/dom.js";
import { draft, draftOf, keepDraft } from "../kit/drafts.js";
import { attempt, toast } from "../kit/toast.js";
import { attachments } from "./chat/attach.js";
import { lacking, ways } from "./nomodel.js";
import { RUNBOOK } from "./parts.js";

const ROWS = { least: 2, most: 14 };
const PATIENCE_MS = 800;
const SEND_MS = 60_000;
const SILENT = "No answer came within a minute. Your text is kept: send it again, it arrives once.";
const NO_MODEL = "No model is set up, so plain text gets no answer.";

/**
 * composer({key, project, send({prompt, model?, attachments?}, {key}), label}) →
 * {node, actions, ready, focus, placeholder, label, write, refresh}; `key` names the draft. `send`
 * resolves to the answer of the service; its second argument has a key that makes it idempotent.
 */
export function composer({ key, project, send, label = "Send" }) {
  // Without a limit of its own, which would cut what is pasted: the service refuses, and it stays.
  const box = h("textarea", { id: "say", rows: String(ROWS.least) });
  const kept = draft(box, `message.${key}`);
  const models = h(
    "select",
    { class: "input slim", "aria-label": "Model of this message", hidden: true },
    h("option", { value: "" }, "Model: automatic"),
  );
  const word = h("span", {}, label);
  const hint = h("div", { class: "hint composer-hint", role: "group", "aria-label": "No model" });
  const actions = h("span", { class: "line push" });
  const sendButton = h(
    "button",
    { class: "btn primary" },
    word,
    " ",
    h("span", { class: "kbd phone-hide", "aria-hidden": "true" }, "Ctrl ↵"),
  );
  const form = h("form", { class: "composer", onsubmit: submit });
  const files = attachments({ box, zone: form, project, name: `files.${key}` });

  const grow = () => {
    const lines = box.value.split("\n").length;
    box.rows = Math.min(ROWS.most, Math.max(ROWS.least, lines));
  };
  const put = (text) => {
    box.value = text;
    box.dispatchEvent(new Event("input"));
  };

  function submit(event) {
    event.preventDefault();
    if (sendButton.getAttribute("aria-busy")) return;
    const prompt = box.value;
    if (!prompt.trim()) {
      box.focus();
      if (files.paths().length) toast("Say what to do with the files.", { bad: true });
      return;
    }
    attempt({ currentTarget: sendButton }, async () => {
      if (!(await files.there())) return; // a toast said why; all files belong to the message
      if (!(await runs(prompt))) {
        toast("Nothing is sent: without a model, only a runbook runs.", { bad: true });
        return;
      }
      const paths = files.paths();
      const model = models.value;
      const message = {
        prompt,
        ...(model && { model }),
        ...(paths.length && { attachments: paths }),
      };
      const sent = await once(`sent.${key}`, message, (options) => send(message, options));
      if (sent?.repeated) toast("It had arrived before: it is not sent twice.");
      files.clear(paths); // files added since go with the next message
      if (box.value === prompt) put("");
      if (!box.value) kept.clear();
    });
  }

  box.addEventListener("input", grow);
  box.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) submit(event);
    if (event.key === "Escape") box.blur();
  });
  const example = () => {
    put(box.value.trim() ? box.value : RUNBOOK);
    box.focus();
  };
  form.append(
    h("label", { class: "sr", for: "say" }, "Message"),
    box,
    files.list,
    h(
      "div",
      { class: "line wrap" },
      button("", {
        icon: "clip",
        kind: "ghost only",
        "aria-label": "Attach files",
        title: "Attach files; one can also paste or drop them",
        onclick: files.pick,
      }),
      files.input,
      button("Runbook", {
        kind: "ghost",
        title: "Put an example runbook here",
        onclick: example,
      }),
      models,
      actions,
      sendButton,
    ),
  );
  grow();
  offer(models, project);
  let mute = true; // until a model that can answer is known
  async function look() {
    mute = (await lacking()) !== null;
    fill(hint, mute && [h("span", { class: "line tight" }, icon("info"), NO_MODEL), ...buttons]);
  }
  async function runs(prompt) {
    if (mute && !isRunbook(prompt)) await look();
    return !mute || isRunbook(prompt);
  }
  const onModelFound = () => {
    look();
    offer(models, project);
    toast("A model is there: plain text gets an answer.");
  };
  const buttons = ways({ runbook: example, found: onModelFound });
  const looked = look().catch(() => {}); // sending says what is wrong
  const ready = Promise.race([looked, new Promise((done) => setTimeout(done, PATIENCE_MS))]);
  return {
    node: h("div", {}, hint, form),
    actions,
    ready, // the hint is known, which would move what is below it
    focus: () => box.focus(),
    /** The user comes back to the box: the draft and the models may have changed. */
    refresh() {
      kept.again();
      files.again();
      grow();
      look().catch(() => {}); // sending says what is wrong
      offer(models, project);
    },
    placeholder: (text) => box.setAttribute("placeholder", text),
    label: (text) => (word.textContent = text),
    /** Insert a text in the box, before the text already there. */
    write(text) {
      put(box.value.trim() ? `${text}\n\n${box.value}` : text);
      box.focus();
      box.setSelectionRange(text.length, text.length);
    },
  };
}

/**
 * Send a message under a key that is kept until the answer arrives, so that a repeated send is
 * recognised as the same message.
 */
async function once(name, message, send) {
  const text = JSON.stringify(message);
  const kept = JSON.parse(draftOf(name) || "{}");
  const key = kept.text === text ? kept.key : random();
  keepDraft(name, JSON.stringify({ key, text }));
  try {
    const sent = await send({ key, within: SEND_MS });
    keepDraft(name, "");
    return sent;
  } catch (error) {
    if (error.code === "silent") throw new Error(SILENT, { cause: error });
    if (error.code === "key_reused") keepDraft(name, ""); // the chat that it created is deleted
    throw error;
  }
}

/** A random key; crypto.randomUUID is missing on pages from other machines over plain HTTP. */
const random = () =>
  Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) =>
    byte.toString(16).padStart(2, "0"),
  ).join("");

const isRunbook = (prompt) => prompt.split("\n", 1)[0].trimEnd() === "#!runbook";

/** Fill in the models that can be chosen. */
async function offer(models, project) {
  const { models: all } = await get(query("/api/models", { project })).catch(() => ({
    models: [],
  }));
  const list = all.filter((model) => model.engine !== "runbook");
  const options = list.map((model) => h("option", { value: model.id }, model.label ?? model.id));
  const chosen = models.value;
  models.replaceChildren(models.firstElementChild, ...options);
  if (list.some(({ id }) => id === chosen)) models.value = chosen;
  models.hidden = list.length === 0;
}
