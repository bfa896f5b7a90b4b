// A form in a dialogue: each error is shown at its field; typed values are kept until sent.

import { button, fill, h, icon } from "../../kit/dom.js";
import { dialog } from "../../kit/dialog.js";
import { toast } from "../../kit/toast.js";
import { Keeping } from "./keeping.js";

let count = 0;

/**
 * Ask for `fields` of {name, label, kind: "text" | "select" | "area", value, options, list, hint,
 * paths, half, …attributes}. `paths`: the paths by which errors of the service name the field.
 * `send(values, was)` submits; what it throws is shown at its field, or above the buttons. `keep`:
 * the name of the draft of unsent values. `was`: the present content of the file that is to change;
 * send() receives the content on which the draft was begun.
 * @param {string} title
 * @param {{intro?: string, fields: any[], verb: string, shape?: string, keep: string, was?: string,
 *   send: (values: any, was: string) => unknown}} what
 */
export function ask(title, { intro, fields, verb, shape = "check", send, keep, was }) {
  const built = fields.map((field) => new Field(field));
  const over = button("Start over", { kind: "ghost", onclick: startOver });
  const why = h("p", { class: "problem", role: "alert", tabindex: "-1" });
  const form = h(
    "form",
    { class: "stack", novalidate: true },
    h("h2", { class: "big" }, title),
    intro && h("p", { class: "soft small" }, intro),
    h(
      "div",
      { class: "fields" },
      built.map(({ node }) => node),
    ),
    why,
    h(
      "div",
      { class: "line wrap" },
      h("button", { type: "submit", class: "btn primary" }, icon(shape), verb),
      button("Cancel", { onclick: () => node.close() }),
      over,
    ),
  );
  const values = () => Object.fromEntries(built.map((field) => [field.name, field.value]));
  const first = values();
  const kept = new Keeping(keep, { first, values, write, was });
  const remember = () => {
    over.hidden = !kept.keep();
  };
  function write(given) {
    for (const field of built) if (field.name in given) field.put(given[field.name]);
    over.hidden = !kept.dirty;
  }
  function startOver() {
    const typed = values();
    write(first);
    remember();
    built[0].input.focus();
    const back = () => (write(typed), remember());
    toast("What you typed is dropped.", { action: "Undo", act: back });
  }
  form.addEventListener("input", remember);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    submit();
  });
  async function submit() {
    for (const field of built) field.wrong("");
    fill(why);
    form.setAttribute("aria-busy", "true");
    try {
      await send(values(), kept.was ?? "");
      kept.forget();
      node.close();
    } catch (error) {
      show(error);
    } finally {
      form.removeAttribute("aria-busy");
    }
  }
  function show(error) {
    const left = problems(error).filter(({ path, message }) => {
      const field = built.find((one) => one.takes(path));
      field?.wrong(message);
      return !field;
    });
    if (left.length) fill(why, icon("alert"), h("span", {}, left.map(sentence).join(" ")));
    (built.find(({ bad }) => bad) ?? built[0]).input.focus();
  }
  const node = dialog(title, form);
  kept.restore(why);
  over.hidden = !kept.dirty;
  built[0].input.focus();
  if ("select" in built[0].input) built[0].input.select();
  return { fields: Object.fromEntries(built.map((field) => [field.name, field])) };
}

const OF_NAME = new Set(["bad_slug", "exists"]);

/** The messages of a refusal, each with the path of the value it is about. */
function problems({ code, body, message }) {
  if (body?.issues?.length) return body.issues;
  return [{ path: OF_NAME.has(code) ? "slug" : "", message }];
}

const sentence = ({ path, message }) => (path ? `${path}: ${message}.` : message);

class Field {
  bad = false;

  constructor({ name, label, kind = "text", value = "", half = false, ...more }) {
    const { options, list, hint, paths, ...rest } = more;
    const id = `field-${(count += 1)}`;
    this.name = name;
    this.paths = paths ?? [name];
    const common = { id, class: "input", "aria-describedby": `${id}-hint ${id}-why`, ...rest };
    const off = { autocomplete: "off", spellcheck: "false" };
    if (kind === "select")
      this.input = h(
        "select",
        common,
        options.map(([key, words]) => h("option", { value: key, selected: key === value }, words)),
      );
    else if (kind === "area") this.input = h("textarea", { rows: "3", ...off, ...common, value });
    else this.input = h("input", { ...off, ...common, value, list: list && `${id}-list` });
    this.why = h("p", { class: "problem", id: `${id}-why`, role: "alert" });
    this.node = h(
      "div",
      { class: half ? "field half" : "field" },
      h("label", { for: id }, label),
      this.input,
      list &&
        h(
          "datalist",
          { id: `${id}-list` },
          list.map((one) => h("option", { value: one })),
        ),
      hint && h("p", { class: "hint", id: `${id}-hint` }, hint),
      this.why,
    );
  }

  get value() {
    return this.input.value.trim();
  }

  /** Set the value and dispatch the events of typing or choosing, so that listeners follow. */
  put(value) {
    this.input.value = value;
    for (const event of ["input", "change"]) this.input.dispatchEvent(new Event(event));
  }

  takes(path) {
    return this.paths.some((one) => path === one || path.startsWith(`${one}.`));
  }

  wrong(message) {
    this.bad = message !== "";
    this.node.classList.toggle("invalid", this.bad);
    this.input.setAttribute("aria-invalid", String(this.bad));
    fill(this.why, this.bad && [icon("alert"), h("span", {}, message)]);
  }
}

/** "My Shop 2" → "my-shop-2": the name of a file. */
export const slugOf = (name) =>
  name
    .normalize("NFKD")
    .replace(/\p{M}/gu, "")
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .slice(0, 63)
    .replace(/^-+|-+$/g, "");

/** Derive the file's name from the name until the user types one. */
export function following(name, slug) {
  let own = slug.value !== "" && slug.value !== slugOf(name.value);
  slug.input.addEventListener("input", () => (own = slug.value !== ""));
  name.input.addEventListener("input", () => {
    if (!own) slug.input.value = slugOf(name.value);
  });
}
