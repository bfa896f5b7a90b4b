// "Open for review": add a repository of this machine to a project.

import { post } from "../../kit/api.js";
import { button, fill, h, icon } from "../../kit/dom.js";
import { attempt, toast } from "../../kit/toast.js";
import { route } from "../route.js";

const FIELDS = [
  ["path", "Folder of the repository", "~/code/api", "Empty: the folder this project works in."],
  ["range", "Commits", "main..feature", "Empty: what is not on the trunk yet."],
  ["name", "Name", "api", "Empty: the last part of the path."],
];
/** @type {[words: RegExp, field: string][]} */
const AT = [
  [/^"range"|revision|range/i, "range"],
  [/^"name"|named/i, "name"],
  [/^"path"|repository|directory/i, "path"],
];
let forms = 0;

/** The form for a project. `done(repo)` is called once one is open, `left()` on leaving. */
export function openForm(project, { done, left }) {
  const id = `open-${(forms += 1)}`;
  const fields = new Map(FIELDS.map((field) => [field[0], new Field(id, ...field)]));
  const form = h(
    "form",
    { class: "openform stack", novalidate: true, "aria-label": `Open a repository in ${project}` },
    [...fields.values()].map((field) => field.node),
    h(
      "div",
      { class: "line" },
      button("Open for review", { kind: "primary", icon: "review", type: "submit" }),
      button("Cancel", { kind: "ghost", onclick: left }),
    ),
  );
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    for (const field of fields.values()) field.fault("");
    attempt({ currentTarget: form.querySelector("[type=submit]") }, () =>
      send(project, fields, done),
    );
  });
  form.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    event.stopPropagation();
    left();
  });
  return form;
}

async function send(project, fields, done) {
  const wanted = [...fields].filter(([, field]) => field.value);
  const body = Object.fromEntries(wanted.map(([name, field]) => [name, field.value]));
  try {
    const repo = await post(route("projects", project, "repos"), body);
    toast(`${repo.name} is open for review`);
    done(repo);
  } catch (error) {
    const at = error.status === 0 ? null : AT.find(([text]) => text.test(error.message));
    if (!at) throw error;
    fields.get(at[1]).fault(error.message);
  }
}

export class Field {
  constructor(id, name, label, example, hint) {
    this.input = h("input", {
      class: name === "name" ? "input" : "input mono",
      id: `${id}-${name}`,
      name,
      placeholder: example,
      autocomplete: "off",
      spellcheck: "false",
      "aria-describedby": `${id}-${name}-says`,
    });
    this.hint = hint;
    this.says = h("div", { id: `${id}-${name}-says` }, h("p", { class: "hint" }, hint));
    this.node = h(
      "div",
      { class: "field" },
      h("label", { for: this.input.id }, label),
      this.input,
      this.says,
    );
  }

  get value() {
    return this.input.value.trim();
  }

  /** Show the error of the service under the field; "" shows the hint again. */
  fault(text) {
    this.node.classList.toggle("invalid", Boolean(text));
    this.input.toggleAttribute("aria-invalid", Boolean(text));
    fill(
      this.says,
      text
        ? h("p", { class: "problem", role: "alert" }, icon("alert"), h("span", {}, text))
        : h("p", { class: "hint" }, this.hint),
    );
    if (text) this.input.focus();
  }
}
