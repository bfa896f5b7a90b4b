// The form that makes a project: a name is enough.

import { post } from "../kit/api.js";
import { button, fill, h, icon } from "../kit/dom.js";

/** Show the form in `place`; `opener`, the button that asked for it, rests meanwhile. */
export function newProject(place, opener) {
  const name = h("input", { class: "input", id: "np-name", required: true, autocomplete: "off" });
  const area = h("input", { class: "input", id: "np-area", autocomplete: "off" });
  const repo = h("input", {
    class: "input mono",
    id: "np-repo",
    placeholder: "https://… or /a/path, optional",
    autocomplete: "off",
  });
  const why = h("p", { class: "problem", role: "alert", hidden: true });
  const submit = async (event) => {
    event.preventDefault();
    why.hidden = true;
    try {
      const { project } = await post("/api/projects", {
        name: name.value,
        ...(area.value && { group: area.value }),
        ...(repo.value && { repo: repo.value }),
      });
      location.assign(`/projects/${project.slug}`);
    } catch (error) {
      why.hidden = false;
      fill(why, icon("alert"), h("span", {}, error.message));
    }
  };
  const field = (label, input, hint) =>
    h(
      "div",
      { class: "field" },
      h("label", { for: input.id }, label),
      input,
      hint && h("p", { class: "hint" }, hint),
    );
  fill(
    place,
    h(
      "form",
      { class: "card inline-form", onsubmit: submit, "aria-label": "New project" },
      h(
        "div",
        { class: "three" },
        field("Name", name),
        field("Area", area, "Groups projects here, optional"),
        field("Repository to clone", repo),
      ),
      why,
      h(
        "div",
        { class: "line" },
        h("button", { class: "btn primary" }, "Create project"),
        button("Cancel", {
          kind: "ghost",
          onclick: () => {
            fill(place);
            opener.hidden = false;
          },
        }),
      ),
    ),
  );
  opener.hidden = true;
  name.focus();
}
