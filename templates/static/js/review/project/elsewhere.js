// A repository that is not at the path in project.yaml: set its new path (PUT …/repos/:repo/path).

import { put } from "../../kit/api.js";
import { dialog } from "../../kit/dialog.js";
import { button, h } from "../../kit/dom.js";
import { attempt, toast } from "../../kit/toast.js";
import { tilde } from "../paths.js";
import { route } from "../route.js";
import { Field } from "./open.js";

/** The button that asks for the new path of a repository. */
export const giveButton = (where) =>
  button("Give its new path", {
    kind: "s",
    "aria-label": `Give the new path of ${where.name}`,
    onclick: () => ask(where),
  });

function ask({ project, name, path }) {
  const field = new Field("elsewhere", "path", "Folder of the repository", "~/code/api", HINT);
  field.input.value = tilde(path);
  const use = button("Use it", { kind: "primary", type: "submit" });
  const sure = button("Use it anyway", { hidden: true, onclick: () => send(true) });
  const form = h(
    "form",
    { class: "stack", novalidate: true, "aria-label": `Where ${name} is now` },
    field.node,
    h("div", { class: "line" }, use, sure, button("Cancel", { onclick: () => node.close() })),
  );
  const send = (confirm) =>
    attempt({ currentTarget: confirm ? sure : use }, async () => {
      const body = { path: field.value, ...(confirm && { confirm }) };
      try {
        await put(route("projects", project, "repos", name, "path"), body);
      } catch (error) {
        if (![400, 409].includes(error.status)) throw error;
        sure.hidden = error.code !== "other_repository";
        field.fault(error.message.replace(FOR_PROGRAMS, ""));
        return;
      }
      node.close();
      toast(`${name} is shown from its new path`);
    });
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    send(false);
  });
  form.addEventListener("input", () => {
    sure.hidden = true;
    field.fault("");
  });
  const node = dialog(
    `Where ${name} is now`,
    h("h2", { class: "big" }, `Where ${name} is now`),
    form,
  );
  field.input.select();
}

const HINT = "It is written into project.yaml; its reviews stay as they are.";
const FOR_PROGRAMS = / Send "confirm".*$/s;
