// The form that makes a project, empty or as a clone; a name is enough.

import { get, post, remove } from "../kit/api.js";
import { button, fill, h, icon } from "../kit/dom.js";
import { draft } from "../kit/drafts.js";
import { attempt } from "../kit/toast.js";
import { span } from "../kit/words.js";

/** @typedef {{label: string, hint?: string, mono?: boolean}} About */

/** @type {Record<string, About>} */
const FIELDS = {
  name: { label: "Name" },
  slug: {
    label: "Short name",
    hint: "For its folder and address: a to z, 0 to 9, hyphens.",
    mono: true,
  },
  group: { label: "Area", hint: "Groups projects on this page. Optional." },
  repo: {
    label: "Work on a copy of",
    hint: "A repository that is cloned: https://…, ssh, or a path of this machine. Optional.",
    mono: true,
  },
};
const REFUSED = { area: "group" }; // field names of the route → of the form
const NO_SLUG =
  "This name has no letter from a to z and no digit for its address: give a short name.";

/** Show the form in `place`, once; Cancel returns the focus to where it was. */
export function newProject(place) {
  const there = place.querySelector("form");
  if (there) {
    there.elements.name.focus();
    return;
  }
  const opener = /** @type {HTMLElement | null} */ (document.activeElement);
  const inputs = Object.fromEntries(
    Object.entries(FIELDS).map(([name, about]) => [name, input(name, about)]),
  );
  inputs.slug.disabled = true; // until a slug cannot be derived from the name
  const drafts = Object.entries(inputs).map(([name, node]) => draft(node, `newproject.${name}`));
  const progress = h("span", { class: "soft small", role: "status" });
  const cancel = button("Cancel", { kind: "ghost" });
  const why = h("p", { class: "problem", role: "alert", hidden: true });
  const close = () => {
    drafts.forEach((one) => one.clear());
    fill(place);
    opener?.focus();
  };
  inputs.repo.addEventListener("input", () => {
    inputs.name.placeholder = cloneName(inputs.repo.value);
  });

  async function submit(event) {
    event.preventDefault();
    const name = inputs.name.value.trim() || inputs.name.placeholder;
    const values = { name, group: inputs.group.value, repo: inputs.repo.value.trim() };
    if (!inputs.slug.disabled) values.slug = inputs.slug.value.trim();
    if (form.hasAttribute("aria-busy")) return;
    clear();
    if (!name) {
      refuse("name", "A project needs a name.");
      return;
    }
    form.setAttribute("aria-busy", "true");
    const stop = values.repo ? followClone(name) : showProgress(progress, () => "Creating");
    try {
      const given = Object.entries(values).filter(([, value]) => value);
      const { project } = await post("/api/projects", Object.fromEntries(given), {
        within: 0, // no limit: a clone may take long, and shows its progress
      });
      drafts.forEach((one) => one.clear());
      location.assign(`/projects/${project.slug}`);
    } catch (error) {
      explain(error);
    } finally {
      stop();
      form.removeAttribute("aria-busy");
    }
  }

  /** Show the progress of the clone of this name, and let Cancel stop it. Returns stop(). */
  function followClone(name) {
    let clone = null;
    const progressWords = () => (clone?.step ? `${clone.step}, ${clone.percent} %` : "Cloning");
    const stop = showProgress(progress, progressWords);
    const look = () =>
      get("/api/clones")
        .then(({ clones }) => (clone = clones.find((one) => one.name === name) ?? clone))
        .catch(() => {}); // the answer of the clone itself says what is wrong
    const timer = setInterval(look, 1000);
    cancel.textContent = "Stop";
    cancel.onclick = (event) =>
      attempt(event, async () => {
        await look();
        if (clone) await remove(`/api/clones/${clone.slug}`);
      });
    return () => {
      clearInterval(timer);
      stop();
      cancel.textContent = "Cancel";
      cancel.onclick = close;
    };
  }

  function explain(error) {
    if (error.code === "stopped") return refuse(null, error.message);
    for (const { field, reason, example } of error.errors)
      refuse(REFUSED[field] ?? field, example ? `${reason}, e.g. ${example}` : reason);
    if (error.errors.length) return;
    const [, field, said] = /^(name|group|repo|slug): (.*)$/s.exec(error.message) ?? [];
    if (said?.includes("pass slug")) {
      inputs.slug.disabled = false;
      inputs.slug.closest(".field").hidden = false;
      return refuse("slug", NO_SLUG);
    }
    const taken = inputs.slug.disabled ? "name" : "slug";
    refuse(error.code === "exists" ? taken : field, said ?? error.message);
  }

  function refuse(name, text) {
    const field = inputs[name]?.closest(".field");
    const place = field?.querySelector(".problem") ?? why;
    place.hidden = false;
    fill(place, icon("alert"), h("span", {}, text));
    field?.classList.add("invalid");
    inputs[name]?.setAttribute("aria-invalid", "true");
    form.querySelector("[aria-invalid]")?.focus();
  }

  function clear() {
    for (const node of form.querySelectorAll(".problem")) node.hidden = true;
    for (const node of form.querySelectorAll(".invalid")) node.classList.remove("invalid");
    for (const node of Object.values(inputs)) node.removeAttribute("aria-invalid");
  }

  const form = h(
    "form",
    { class: "card inline-form", onsubmit: submit, novalidate: true, "aria-label": "New project" },
    h(
      "div",
      { class: "three" },
      Object.entries(FIELDS).map(([name, about]) => field(inputs[name], about)),
    ),
    why,
    h(
      "div",
      { class: "line wrap" },
      h("button", { class: "btn primary" }, "Create project"),
      cancel,
      progress,
    ),
  );
  cancel.onclick = close;
  form.addEventListener("keydown", (event) => event.key === "Escape" && cancel.click());
  fill(place, form);
  inputs.name.placeholder = cloneName(inputs.repo.value);
  inputs.name.focus();
}

/** @type {(name: string, about: About) => HTMLInputElement} */
const input = (name, { mono }) =>
  h("input", {
    class: mono ? "input mono" : "input",
    id: `np-${name}`,
    name,
    autocomplete: "off",
    "aria-describedby": `np-${name}-why`,
  });

/** @type {(node: HTMLInputElement, about: About) => HTMLElement} */
const field = (node, { label, hint }) =>
  h(
    "div",
    { class: "field", hidden: node.disabled },
    h("label", { for: node.id }, label),
    node,
    h("p", { class: "problem", id: `${node.id}-why`, hidden: true }),
    hint && h("p", { class: "hint" }, hint),
  );

/** The name of a clone when none is given: the last part of its URL. */
const cloneName = (address) =>
  address
    .trim()
    .replace(/\/+$/, "")
    .split(/[/:]/)
    .at(-1)
    .replace(/\.git$/, "");

/** Show what is being done and for how long: a clone may take minutes. Returns stop(). */
function showProgress(place, what) {
  const begun = Date.now();
  const say = () => {
    const passed = (Date.now() - begun) / 1000;
    place.textContent = passed < 2 ? `${what()}…` : `${what()}… ${span(Math.floor(passed))}`;
  };
  say();
  const timer = setInterval(say, 1000);
  return () => {
    clearInterval(timer);
    place.textContent = "";
  };
}
