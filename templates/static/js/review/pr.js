// The PR record of a commit: the value of each field, its source, and a way to let the commit
// decide it again. Text being typed is never replaced by updates.

import { get, put } from "../kit/api.js";
import { button, fill, h, icon } from "../kit/dom.js";
import { sheet } from "../kit/dialog.js";
import { command, problem } from "../kit/parts.js";
import { attempt, toast } from "../kit/toast.js";
import { time } from "../kit/words.js";
import { draftAbout } from "./became.js";
import { at, state } from "./state.js";
import { verdictBadges } from "./verdicts.js";

const STATUSES = { "": "By itself", draft: "Draft", ready: "Ready" };
const MEANING = {
  "": "Merged once it has landed, published while it has a pull request, else a draft.",
  draft: "A draft, whatever else is known, until it lands again.",
  ready: "Ready for review, whatever else is known, until it lands again.",
};
const short = (sha) => sha.slice(0, 7);

/** A pull request as the user would type it: its URL, else its number. */
const pull = (github) => (github ? github.url || String(github.number ?? "") : "");

/** The branch recorded in the file; null for a branch that merely points at the commit. */
const recordedBranch = ({ branch, branch_source: source }) =>
  source === "recorded" ? branch : null;

/** The stored values in the form that the API accepts, for Undo. */
const storedValues = (record) => ({
  title: record.title_source === "override" ? record.title : null,
  body: record.body_source === "override" ? record.body : null,
  branch: recordedBranch(record),
  github: record.github,
  status: record.status,
});

const SHOWN = {
  title: (record) => record.title,
  body: (record) => record.body,
  branch: (record) => recordedBranch(record) ?? "",
  github: (record) => pull(record.github),
  status: (record) => record.status ?? "",
};

let panel = null;

/** Open the panel at the side of the page (a sheet on a phone). */
export async function openPr(event) {
  if (panel) return;
  const { life } = state;
  const route = at("pr");
  const record = await attempt(event, () => get(route));
  if (!record || panel || life.aborted) return;
  panel = new Panel(record, route);
  sheet("PR details", panel.node).addEventListener("close", () => (panel = null));
}

/** Read the record again after an event reported a change. */
export async function refreshPr() {
  const open = panel;
  if (open) open.arrive(await get(open.route));
}

class Panel {
  /** `route`: the URL of the record; another commit may be shown before the record is saved. */
  constructor(record, route) {
    this.route = route;
    this.fields = {};
    this.top = h("div", { role: "alert" });
    this.facts = h("dl", { class: "facts" });
    this.node = h(
      "form",
      { class: "prform stack", novalidate: true, onsubmit: (event) => this.save(event) },
      this.top,
      this.text("title", "Title", h("input", { class: "input", autocomplete: "off" })),
      this.text("body", "Description", h("textarea", { class: "input", rows: 8 })),
      this.text("branch", "Branch", h("input", { class: "input mono", autocomplete: "off" })),
      this.text(
        "github",
        "Pull request",
        h("input", { class: "input", placeholder: "318, or an address that ends in /pull/318" }),
      ),
      this.statuses(),
      this.facts,
      h("div", { class: "line savebar" }, h("button", { class: "btn primary" }, "Save")),
    );
    this.node.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) this.save(event);
    });
    for (const [name, field] of Object.entries(this.fields)) {
      const was = SHOWN[name](record);
      this.fillIn(name, was);
      field.kept =
        field.type === "text"
          ? draftAbout(field.input, `pr ${name}`, was, () => this.tell(name))
          : { was, clear() {} };
    }
    this.arrive(record);
  }

  text(name, label, input) {
    const id = `pr-${name}`;
    const source = h("span", { class: "hint line wrap", id: `${id}-source` });
    const error = h("p", { class: "problem", id: `${id}-error`, role: "alert" });
    input.id = id;
    input.setAttribute("aria-describedby", `${id}-source ${id}-error`);
    const node = h("div", { class: "field" }, h("label", { for: id }, label), input, source, error);
    input.addEventListener("input", () => this.clear(name));
    this.fields[name] = { type: "text", node, input, source, error };
    return node;
  }

  statuses() {
    const source = h("span", { class: "hint" });
    const radios = Object.entries(STATUSES).map(([value, word]) =>
      h(
        "label",
        {},
        h("input", {
          type: "radio",
          name: "status",
          value,
          onchange: () => this.tell("status"),
        }),
        word,
      ),
    );
    const error = h("p", { class: "problem", role: "alert" });
    const node = h(
      "fieldset",
      { class: "field" },
      h("legend", { class: "legend" }, "Status"),
      h("div", { class: "seg" }, radios),
      source,
      error,
    );
    this.fields.status = { type: "choice", node, source, error };
    return node;
  }

  value(name) {
    const { type, input, node } = this.fields[name];
    return type === "text" ? input.value : (node.querySelector(":checked")?.value ?? "");
  }

  fillIn(name, value) {
    const { type, input, node } = this.fields[name];
    if (type === "text") input.value = value;
    else for (const radio of node.querySelectorAll("input")) radio.checked = radio.value === value;
  }

  /** Draw the record as the service has it; text being typed stays, with a notice of the change. */
  arrive(record) {
    this.record = record;
    for (const [name, { kept }] of Object.entries(this.fields)) {
      if (this.value(name) === kept.was) this.fillIn(name, (kept.was = SHOWN[name](record)));
      this.tell(name);
    }
    fill(this.top, record.parse_error && this.yamlProblem(record));
    fill(this.facts, this.about(record));
  }

  tell(name) {
    const said = this.source(name);
    fill(
      this.fields[name].source,
      said.words,
      said.link,
      this.changeNotice(name),
      said.back &&
        button(said.back, { kind: "ghost s", onclick: (event) => this.revert(event, name) }),
    );
  }

  /** A notice of the record's new value where other text, begun on an older value, is typed. */
  changeNotice(name) {
    const now = SHOWN[name](this.record);
    const typed = this.value(name);
    if (now === this.fields[name].kept.was || now === typed) return null;
    const take = () => {
      this.takeValue(name, now);
      toast("What you typed is replaced.", { action: "Undo", act: () => this.type(name, typed) });
    };
    const said = name === "status" ? STATUSES[now] : now;
    const words = said ? `Changed elsewhere to “${said}”.` : "Taken out elsewhere.";
    return [
      h("span", { class: "wrap-anywhere" }, `${words} Saving replaces it with yours.`),
      button("Take theirs", { kind: "s", onclick: take }),
    ];
  }

  /** Fill a field with the value of the record, and forget its draft. */
  takeValue(name, now) {
    const { kept } = this.fields[name];
    this.fillIn(name, now);
    kept.clear();
    kept.was = now;
    this.clear(name);
    this.tell(name);
  }

  /** Fill a field as if the user typed the value. */
  type(name, value) {
    this.fillIn(name, value);
    this.fields[name].input?.dispatchEvent(new Event("input"));
    this.tell(name);
  }

  source(name) {
    const { record } = this;
    if (name === "status") return { words: MEANING[this.value(name)] };
    if (name === "title" || name === "body") {
      const own = record[`${name}_source`] === "override";
      return own
        ? { words: "Written here.", back: "Use the commit’s" }
        : { words: "From the commit." };
    }
    if (name === "branch") {
      if (recordedBranch(record)) return { words: "Recorded here.", back: "Forget it" };
      const { branch } = record;
      return { words: branch ? `Not recorded; ${branch} points here.` : "Not recorded." };
    }
    const { github } = record;
    if (!github) return { words: "Not recorded." };
    const link =
      github.url && h("a", { class: "link", href: github.url, rel: "noreferrer" }, "Open it");
    return { words: "Recorded here.", link, back: "Forget it" };
  }

  about(record) {
    const { landed, verdicts } = record;
    const facts = [
      verdicts.length && ["Verdicts", verdictBadges(verdicts)],
      landed && [
        "Landed",
        [h("code", {}, short(landed.sha)), " ", time(landed.at), ` by ${landed.by}`],
      ],
      record.matched_from && [
        "Carried over",
        [h("code", {}, short(record.matched_from)), ` by ${record.matched_by}`],
      ],
      ["File", command(record.file, "the address of the file")],
    ];
    return facts.filter(Boolean).map(([term, said]) => [h("dt", {}, term), h("dd", {}, said)]);
  }

  yamlProblem(record) {
    return problem(
      `${record.file} is not valid YAML (${record.parse_error}). Mend the file; until then the last good state is shown and nothing can be saved.`,
    );
  }

  changes() {
    const changed = {};
    for (const name of Object.keys(this.fields)) {
      const value = this.value(name);
      if (value !== SHOWN[name](this.record))
        changed[name] = value === "" && !["title", "body"].includes(name) ? null : value;
    }
    return changed;
  }

  async save(event) {
    event.preventDefault();
    const changes = this.changes();
    if (!Object.keys(changes).length) {
      toast("Nothing changed.");
      return;
    }
    await this.send(changes, "Saved.");
  }

  /** Clear a field of the record, so that the commit decides it; Undo restores unsaved text too. */
  async revert(event, name) {
    event.preventDefault();
    const typed = this.value(name);
    const unsaved = typed !== SHOWN[name](this.record);
    await this.send({ [name]: null }, `Given back.`, () => unsaved && this.type(name, typed));
  }

  /** Save changes, only over the values shown here; `undone()` is called after an Undo. */
  async send(changes, said, undone = () => {}) {
    const before = storedValues(this.record);
    const names = Object.keys(changes);
    const those = (of) => Object.fromEntries(names.map((name) => [name, of(name)]));
    const sent = those((name) => this.value(name));
    this.clear();
    this.node.setAttribute("aria-busy", "true");
    try {
      const was = those((name) => before[name]);
      this.settle(await put(this.route, { ...changes, was }), sent);
    } catch (error) {
      if (error.code === "changed") await refreshPr().catch(() => {}); // shows its value
      this.fail(error);
      return;
    } finally {
      this.node.removeAttribute("aria-busy");
    }
    const was = those((name) => storedValues(this.record)[name]);
    const act = () =>
      attempt(null, async () => {
        const shown = those((name) => SHOWN[name](this.record));
        this.settle(await put(this.route, { ...those((name) => before[name]), was }), shown);
        undone();
      });
    toast(said, { action: "Undo", act });
  }

  /** `sent`: the values of the saved fields; text typed since then stays. */
  settle(record, sent) {
    this.record = record;
    for (const [name, value] of Object.entries(sent))
      if (this.value(name) === value) this.takeValue(name, SHOWN[name](record));
      else this.fields[name].kept.was = SHOWN[name](record);
    this.arrive(record);
  }

  /** Show an error; one that begins with the name of a field is shown at that field. */
  fail(error) {
    const name = /^"(\w+)/.exec(error.message)?.[1];
    const field = this.fields[name];
    if (!field) {
      fill(this.top, problem(`${error.message} What you typed is kept.`));
      return;
    }
    fill(field.error, icon("alert"), h("span", {}, error.message));
    field.node.classList.add("invalid");
    const input = field.input ?? field.node.querySelector("input");
    input.setAttribute("aria-invalid", "true");
    input.focus();
  }

  clear(name) {
    for (const one of name ? [name] : Object.keys(this.fields)) {
      const { node, error } = this.fields[one];
      fill(error);
      node.classList.remove("invalid");
      node.querySelector("[aria-invalid]")?.removeAttribute("aria-invalid");
    }
  }
}
