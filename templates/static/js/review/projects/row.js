// One project in the list: its contents, its open threads, and the errors of its file.

import { button, fill, h, icon } from "../../kit/dom.js";
import { plural, time } from "../../kit/words.js";
import { openForm } from "../project/open.js";
import { invalidFileWords, copyPath } from "../paths.js";
import { pageOf } from "../route.js";

const counts = (project) =>
  [
    (project.commitCount || !project.unreadable.length) && plural(project.commitCount, "commit"),
    project.followOnCount && plural(project.followOnCount, "follow-on commit"),
    project.mergedCount && `${project.mergedCount} merged`,
  ]
    .filter(Boolean)
    .join(" · ");

/** The row of a project that is under review, or whose file cannot be read. */
export const projectRow = (project) =>
  h(
    "li",
    {},
    h(
      "div",
      { class: "row review-row" },
      name(project),
      project.unresolved ? unresolvedBadge(project.unresolved) : h("span"),
      h("span", { class: "tiny soft" }, project.repoCount ? counts(project) : ""),
      h("span", { class: "tiny quiet when" }, time(project.lastModified)),
    ),
    project.error &&
      h(
        "div",
        { class: "banner bad inrow", role: "alert" },
        icon("alert"),
        h(
          "div",
          {},
          invalidFileWords(project.file, project.error),
          "Correct it in an editor; what was last read well stays until then.",
        ),
        copyPath(project.file),
      ),
    project.unreadable.map((one) => unreadableWarning(project, one)),
  );

/** The warning of a missing or unreadable repository: the project's page offers remedies. */
const unreadableWarning = ({ slug, repos }, { repo, error }) =>
  h(
    "div",
    { class: "banner warn inrow" },
    icon("alert"),
    h(
      "div",
      { class: "wrap-anywhere" },
      repos.length > 1 && `${repo}: `,
      error,
      !/[.!?]$/.test(error) && ".",
    ),
    h("a", { class: "btn s", href: pageOf(slug) }, "Put it right"),
  );

/** The slug and the repositories, unless the title already says them. */
const places = ({ slug, title, repos }) =>
  [slug !== title && slug, ...repos.filter((repo) => repo !== slug)].filter(Boolean).join(" · ");

const name = (project) =>
  h(
    "span",
    { class: "two-lines" },
    h(
      "span",
      { class: "line" },
      h("a", { class: "over cut strong", href: pageOf(project.slug) }, project.title),
      project.example && h("span", { class: "badge" }, "Example"),
    ),
    h("span", { class: "tiny quiet wrap-anywhere" }, places(project)),
  );

export const unresolvedBadge = (count) =>
  h(
    "span",
    { class: "badge warn" },
    icon("say"),
    String(count),
    h("span", { class: "sr" }, " unresolved"),
  );

/** The row of a project without a repository, with the form that opens one. */
export function closedRow(project, done) {
  const place = h("div", { class: "inside", hidden: true });
  const label = `Open ${project.title} for review`;
  const start = button("Open for review", {
    kind: "s",
    "aria-label": label,
    "aria-expanded": "false",
    onclick: () => show(place.hidden),
  });
  const show = (open) => {
    place.hidden = !open;
    start.setAttribute("aria-expanded", String(open));
    const closeForm = () => (show(false), start.focus());
    fill(place, open ? openForm(project.slug, { done, left: closeForm }) : null);
    place.querySelector("input")?.focus();
  };
  return h(
    "li",
    {},
    h(
      "div",
      { class: "row" },
      h(
        "span",
        { class: "two-lines grow" },
        h("span", { class: "cut" }, project.title),
        h("span", { class: "tiny quiet cut" }, project.slug),
      ),
      start,
    ),
    place,
  );
}
