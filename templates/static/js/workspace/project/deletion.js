// The end of a project's settings: delete it after a question; the home page then offers Undo.

import { P, remove } from "../../kit/api.js";
import { dialog } from "../../kit/dialog.js";
import { button, fill, h, icon } from "../../kit/dom.js";
import { rememberDeleted } from "../home/trash.js";

/** deletion(project) → node */
export function deletion(project) {
  const own = project.path
    ? `${project.workingDir} stays as it is.`
    : "Its folder goes along, with what agents made in it.";
  return h(
    "section",
    { class: "card", "aria-labelledby": "deleting" },
    h("header", {}, h("h2", { id: "deleting" }, "Delete this project")),
    h(
      "div",
      { class: "inside stack" },
      h(
        "p",
        { class: "soft" },
        "Chats, triggers and reviews go to the trash and can be taken back. ",
        own,
      ),
      h(
        "div",
        {},
        button("Delete project", { icon: "trash", kind: "danger", onclick: () => ask(project) }),
      ),
    ),
  );
}

function ask(project) {
  const why = h("p", { class: "problem", role: "alert", hidden: true });
  const sure = button("Delete", {
    icon: "trash",
    kind: "danger",
    onclick: async () => {
      sure.disabled = true;
      try {
        await remove(P(project.slug));
        rememberDeleted(project.slug, project.name);
        location.assign("/");
      } catch (error) {
        fill(why, icon("alert"), h("span", {}, error.message));
        why.hidden = false;
        sure.disabled = false;
      }
    },
  });
  const node = dialog(
    "Delete the project?",
    h(
      "div",
      { class: "stack" },
      h("h2", { class: "big" }, `Delete ${project.name}?`),
      h("p", { class: "soft" }, "It goes to the trash, whole. Home has it under Deleted projects."),
      why,
      h("div", { class: "line wrap" }, sure, button("Keep it", { onclick: () => node.close() })),
    ),
  );
}
