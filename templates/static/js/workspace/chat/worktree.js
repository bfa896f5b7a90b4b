// A chat's worktree: the box that requests one, the state of its branch, and bringing it over.

import { get, P, post } from "../../kit/api.js";
import { dialog } from "../../kit/dialog.js";
import { button, fill, h, icon } from "../../kit/dom.js";
import { draft } from "../../kit/drafts.js";
import { attempt, toast } from "../../kit/toast.js";
import { plural } from "../../kit/words.js";

const LISTED = 8;

/** worktreeBox(slug) → {node, asked()}: the box of a new chat, shown if the project has a
 *  repository. */
export function worktreeBox(slug) {
  const box = h("input", { type: "checkbox", id: "own-worktree" });
  const title = "Its agent works on a branch of its own; your files stay as they are.";
  const node = h(
    "label",
    { class: "line tight small", title, hidden: true },
    box,
    "In a worktree of its own",
  );
  get(P(slug))
    .then(({ project }) => (node.hidden = !project.worktrees))
    .catch(() => {}); // sending says what is wrong
  return { node, asked: () => box.checked && !node.hidden && { worktree: true } };
}

/** What happened to the worktree when its chat was deleted or archived, as a sentence; or "". */
export function leftWords(left) {
  if (!left) return "";
  if (left.kept) return ` Its worktree stays: ${left.kept}.`;
  return left.branchDeleted ? ` Its worktree and ${left.branch} are removed.` : "";
}

/** The worktree section of the facts, and the banner above the message box. `route`: the chat's. */
export class Worktree {
  constructor(route) {
    this.route = `${route}/worktree`;
    this.node = h("section", { class: "stack", hidden: true, "aria-label": "Worktree" });
    this.banner = h("div", { hidden: true });
  }

  /** Read the state of the worktree again; hidden for a chat without one. */
  async load(chat) {
    this.node.hidden = !chat?.worktree;
    if (this.node.hidden) return;
    this.draw(await get(this.route));
  }

  draw({ worktree, review }) {
    const { branch, target, ahead, behind, changed, problem, gone } = worktree;
    const again = () =>
      button("Make it again", {
        kind: "s",
        onclick: (event) => attempt(event, async () => this.draw(await post(this.route))),
      });
    fill(
      this.node,
      h("h2", {}, "Worktree"),
      h(
        "dl",
        { class: "facts" },
        row("Branch", h("code", { class: "wrap-anywhere" }, branch)),
        ahead !== null && row(`Against ${target}`, `${ahead} ahead, ${behind} behind`),
        row("Not committed", changed.length ? plural(changed.length, "file") : "nothing"),
        review && row("Review", h("a", { class: "link", href: review }, "its commits")),
      ),
      changed.length > 0 && names(changed),
      problem && h("p", { class: "small soft" }, problem),
      gone
        ? again()
        : h(
            "div",
            {},
            button("Bring it over", {
              icon: "fork",
              kind: "s",
              disabled: Boolean(problem) || (ahead === 0 && changed.length === 0),
              onclick: () => this.ask(worktree),
            }),
          ),
    );
    this.banner.hidden = !gone;
    const said = [icon("alert"), h("div", {}, problem), again()];
    fill(this.banner, gone && h("div", { class: "banner warn", role: "status" }, ...said));
  }

  /** Ask for the target branch, the way, and the message for uncommitted changes. */
  ask(worktree) {
    const { branch, target, changed } = worktree;
    const onto = h("input", { class: "input mono", id: "bring-onto", value: target ?? "" });
    const how = h(
      "select",
      { class: "input", id: "bring-how" },
      h("option", { value: "rebase" }, "Rebase: its commits on top"),
      h("option", { value: "merge" }, "Merge: one commit that joins both"),
    );
    const said = h("input", { class: "input", id: "bring-said", maxlength: "10000" });
    const kept = draft(said, `bring.${this.route}`);
    const why = h("p", { class: "problem", role: "alert", hidden: true });
    const sure = h("button", { class: "btn primary" }, "Bring it over");
    const submit = async (event) => {
      event.preventDefault();
      why.hidden = sure.disabled = true;
      const commit = said.value.trim();
      const asked = { onto: onto.value.trim() || null, how: how.value, ...(commit && { commit }) };
      try {
        const { brought } = await post(`${this.route}/bring`, asked);
        kept.clear();
        node.close();
        toast(`${plural(brought.commits, "commit")} of ${branch} on ${brought.onto}.`);
        this.draw(await get(this.route));
      } catch (error) {
        fill(why, icon("alert"), h("span", {}, error.message));
        why.hidden = sure.disabled = false;
      }
    };
    const node = dialog(
      "Bring it over",
      h(
        "form",
        { class: "stack", onsubmit: submit },
        h("h2", { class: "big" }, `Bring ${branch} over`),
        h("p", { class: "soft" }, "Where lines meet or files are in the way, nothing is changed."),
        field("Onto branch", onto),
        field("How", how),
        changed.length > 0 && [
          names(changed),
          field(`Message for ${plural(changed.length, "file")} not committed`, said),
        ],
        why,
        h("div", { class: "line wrap" }, sure, button("Not now", { onclick: () => node.close() })),
      ),
    );
  }
}

const row = (name, value) => [h("dt", {}, name), h("dd", {}, value)];

const field = (label, input) =>
  h("div", { class: "field" }, h("label", { for: input.id }, label), input);

function names(changed) {
  const more = changed.length - LISTED;
  return h(
    "ul",
    { class: "stack tight small" },
    changed.slice(0, LISTED).map((name) => h("li", { class: "mono cut", title: name }, name)),
    more > 0 && h("li", { class: "tiny quiet" }, `and ${more} more`),
  );
}
