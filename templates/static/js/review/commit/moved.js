// A commit that is no longer in the range: its successor, and a link to it.

import { get } from "../../kit/api.js";
import { button, fill, h, icon } from "../../kit/dom.js";
import { at, onOther, pageAt, state, worktree } from "../state.js";
import { pageOf, route } from "../route.js";

/** The successor that the service names, else one alike: {repo, sha, short, title}; or null. */
async function heir() {
  const answer = await fetch(at(), { headers: { Accept: "application/json" } });
  const { moved_to: told } = await answer.json();
  const { repos } = await get(route("projects", state.project));
  const commits = repos.find(({ name }) => name === state.repo)?.commits ?? [];
  const found = commits.find(({ sha }) => sha === told) ?? alike(commits);
  return found ? { repo: state.repo, ...found } : null;
}

/** The only commit of the same author and second, else the only one with the same subject. */
function alike(commits) {
  const { commit } = state;
  if (!commit) return null;
  const written = commits.filter(
    ({ author, authored }) => authored === commit.authored && author === commit.author.name,
  );
  const named = commits.filter(({ subject }) => subject === commit.subject);
  return [written, named].find(({ length }) => length === 1)?.[0] ?? null;
}

/** Show a notice above the commit; what is drawn and typed stays. */
export async function tellMoved(error) {
  const { life } = state;
  const place = document.getElementById("notices");
  const found = await heir().catch(() => null);
  if (life.aborted) return;
  const words = found
    ? [
        "This commit was rebased away. It is now ",
        h("span", { class: "mono" }, found.short),
        ` ${found.subject}.`,
      ]
    : [error.message];
  const go = found
    ? h("a", { class: "btn", href: pageAt(found, location.hash) }, "Go there")
    : h("a", { class: "btn", href: pageOf(state.project) }, "Open the project");
  const banner = h(
    "div",
    { class: "banner warn", role: "alert" },
    icon("alert"),
    h("div", {}, words),
    go,
  );
  fill(place, banner);
  if (!state.commit) document.getElementById("title").textContent = "This commit is not here";
}

/** Show any other error of reading the commit, with a button to try again. */
export function tellTrouble(error, again) {
  const retry = button("Try again", { onclick: again });
  const banner = h(
    "div",
    { class: "banner bad", role: "alert" },
    icon("alert"),
    h("div", {}, error.message),
    retry,
  );
  fill(document.getElementById("notices"), banner);
  if (!state.commit)
    document.getElementById("title").textContent = worktree
      ? "Not committed"
      : "This commit cannot be shown";
}

export const tellFound = () => fill(document.getElementById("notices"));
onOther(tellFound);
