// One trigger: its form, its next three times, its switch, its runs. Errors are shown at fields.

import { call, P, post, put, remove } from "../../kit/api.js";
import { button, fill, h, icon, settle } from "../../kit/dom.js";
import { attempt, toast } from "../../kit/toast.js";
import {
  fields,
  placeOf,
  readForm,
  showErrorAt,
  showErrors,
  showProblem,
  writeForm,
} from "./form.js";
import { head, inFile, notices } from "./head.js";
import { formDraft } from "./keeping.js";
import { recentRuns } from "./recent.js";
import { nextTimes } from "./times.js";

const NEW = {
  trigger: { type: "schedule", cron: "0 9 * * 1-5" },
  run: { prompt: "", session: "new", tools: [] },
};
const CHANGED =
  "The entry has changed since, perhaps by hand. Save again to replace it with what is here.";
const TAKEN = "There is now a trigger of this name: choose another name";
const OTHER = "another"; // an etag that no entry has
const OLDER = "The entry has changed since this was typed. Save to replace it with what is here.";
const GONE = "The trigger was deleted meanwhile. Save again to create it again.";

/** `options`: slug, route, name, record, catalogue; callbacks of the page: back, saved, reload. */
export class Editor {
  etag = null;
  tagged = null;
  saving = null;
  leaving = false;
  gone = false;
  was = ""; // the form when typing began
  now = null; // the entry in the file, if it differs from that

  constructor(main, { slug, route, name, record, catalogue, back, saved, reload, resume }) {
    this.main = main;
    this.slug = slug;
    this.route = route;
    this.name = name;
    this.stored = record;
    this.catalogue = catalogue;
    this.back = back;
    this.saved = saved;
    this.reload = reload;
    this.resume = resume;
    this.path = `${this.route}/${encodeURIComponent(this.name)}`;
    this.facts = this.stored && !this.stored.invalid ? this.stored : null;
    this.inputs = fields(this.catalogue);
    this.draft = formDraft(this.slug, this.name);
    this.headline = h("div");
    this.over = h("div", { class: "stack", tabindex: "-1" });
    this.times = h("div", { class: "stack tight", role: "status" });
    this.recent = this.stored && recentRuns(this.slug, this.name);
    this.note = h("span", { class: "says push small", role: "status" });
    this.acts = {
      back: this.back,
      toggle: (event) => this.toggle(event),
      run: (event) => this.run(event),
      convert: (event) => this.convert(event),
      resume: this.resume,
      mend: (way) => this.mend(way),
    };
    this.preview = settle(200, () => this.showTimes());
    this.build();
    this.fillIn();
    this.live();
    if (!this.facts?.legacy) this.draft.offer(this.over, (form, was) => this.swap(form, was));
    if (this.facts && !this.facts.legacy) this.tag();
    if (this.name === "") this.inputs.name.focus();
  }

  build() {
    this.form = h(
      "form",
      { id: "tf", novalidate: true, autocomplete: "off", onsubmit: (event) => this.save(event) },
      this.headline,
      this.over,
      ...this.inputs.nodes(this.times),
    );
    this.form.addEventListener("input", () => this.remember());
    if (this.facts?.legacy)
      for (const control of this.form.querySelectorAll(
        ".field input, .field select, .field textarea, .seg input, .grants input",
      ))
        /** @type {HTMLInputElement} */ (control).disabled = true;
    fill(this.main, this.form, this.recent?.node, !this.facts?.legacy && this.bar());
  }

  bar() {
    this.discarding = button("Discard changes", { kind: "ghost", onclick: () => this.revert() });
    return h(
      "div",
      { class: "savebar" },
      h(
        "button",
        { class: "btn primary", form: "tf" },
        "Save ",
        h("span", { class: "kbd", "aria-hidden": "true" }, "Ctrl S"),
      ),
      this.discarding,
      this.stored &&
        button("Delete", {
          icon: "trash",
          kind: "ghost danger",
          onclick: (event) => this.discard(event),
        }),
      this.note,
    );
  }

  /** Fill in the stored entry, then the draft of before a reload. */
  fillIn() {
    writeForm(this.inputs, { name: this.name, ...(this.facts ?? NEW) });
    this.inputs.name.readOnly = this.name !== "";
    this.clean = this.formText();
    const { form, was } = this.draft;
    this.was = was ?? this.clean;
    if (form && JSON.stringify(form) !== this.clean) writeForm(this.inputs, form);
    this.sayUnsaved(form !== null && this.dirty());
    this.meanwhile();
  }

  /** Say so if the draft was begun on an entry that has changed or was deleted since. */
  meanwhile() {
    if (!this.dirty()) this.was = this.clean;
    this.gone = this.name !== "" && !this.stored;
    this.now = this.facts && this.was !== this.clean ? this.facts : null;
    if (this.gone) this.sayBad(GONE);
    else if (this.now) this.sayBad(OLDER);
  }

  /** Fill in the draft of a closed window; returns the typed text it replaces, or null. */
  swap(form, was) {
    const before = this.dirty() ? { text: this.formText(), was: this.was } : null;
    writeForm(this.inputs, form);
    this.was = was ?? this.clean;
    this.remember();
    this.meanwhile();
    this.tellOver();
    return before;
  }

  /** Redraw the live parts without touching the typed text. */
  live() {
    const focused = this.headline.contains(document.activeElement) && document.activeElement;
    fill(this.headline, head(this.name, this.stored, this.acts));
    if (focused)
      this.headline
        .querySelector(focused.role === "switch" ? "[role=switch]" : ".btn.primary, .push .btn")
        ?.focus();
    this.tellOver();
    this.showTimes();
    this.recent?.load();
  }

  /** Draw the notices above the form, with the entry of the file if it has changed. */
  tellOver() {
    const take = () => {
      writeForm(this.inputs, { name: this.name, ...this.now });
      this.now = null;
      this.remember();
      this.tellOver();
    };
    fill(this.over, notices(this.stored, this.acts), this.now && inFile(this.now, take));
  }

  focus() {
    const fields = this.form.querySelectorAll("[role=switch], input:not([readonly])");
    [...fields].find((field) => field.checkVisibility())?.focus();
  }

  formText() {
    return JSON.stringify({ name: this.inputs.name.value.trim(), ...readForm(this.inputs) });
  }

  dirty() {
    return !this.facts?.legacy && this.formText() !== this.clean;
  }

  remember() {
    this.preview();
    if (this.dirty()) this.draft.keep(JSON.parse(this.formText()), this.was);
    else this.draft.forget();
    this.sayUnsaved();
  }

  sayUnsaved(restored = false) {
    const dirty = this.dirty();
    if (this.discarding) this.discarding.hidden = !dirty;
    this.note.className = "says push small";
    const words = restored ? "Not saved yet; back from before the reload" : "Not saved yet";
    fill(this.note, dirty && [icon("pencil"), words]);
  }

  sayBad(text) {
    this.note.className = "says bad push small";
    fill(this.note, icon("alert"), text);
  }

  async showTimes() {
    if (this.facts?.trigger.type === "webhook" && !this.dirty()) return;
    const { trigger } = readForm(this.inputs);
    const asked = JSON.stringify(trigger);
    const { nodes, error } = await nextTimes(
      trigger,
      this.facts && this.stored,
      this.catalogue.timezone,
    );
    if (JSON.stringify(readForm(this.inputs).trigger) !== asked) return; // the user has typed since
    fill(this.times, nodes);
    for (const id of ["cron", "interval", "timezone"]) showProblem(this.inputs, id, "");
    if (error) showErrorAt(this.inputs, placeOf(error, trigger), error);
  }

  save(event) {
    event?.preventDefault();
    if (!this.facts?.legacy) this.saving = this.store();
  }

  async store() {
    const target = this.inputs.name.value.trim();
    const sent = this.formText();
    showErrors(this.inputs, []);
    if (this.facts && !this.etag && !this.gone) this.tag(); // no answer came
    await this.tagged;
    try {
      const body = { ...readForm(this.inputs), enabled: this.stored?.enabled ?? false };
      const path = `${this.route}/${encodeURIComponent(target || " ")}`;
      const { data, etag } = await call("PUT", path, body, this.condition());
      if (target === this.name) Object.assign(this, { stored: data.trigger, etag });
      if (target === this.name && this.formText() !== sent)
        this.draft.keep(JSON.parse(this.formText()), sent);
      else this.draft.forget();
      this.clean = this.formText();
      toast(data.created ? "Saved. It is off until you enable it." : "Saved.");
      await this.saved(target);
    } catch (error) {
      this.explain(error);
    }
  }

  /** The condition of a save: only an entry that was shown here is replaced. */
  condition() {
    if (this.stored?.invalid) return {};
    return this.etag ? { etag: this.etag } : { create: true };
  }

  mend(way) {
    way.apply(this.inputs);
    this.remember();
  }

  /** Show a refusal: errors at their fields, others above the form. The typed text stays. */
  explain(error) {
    const taken = error.code === "exists";
    if (error.code === "stale" || (taken && this.name)) {
      this.sayBad(CHANGED);
      this.tagged = this.compare();
      return;
    }
    const errors = taken ? [{ field: "name", reason: TAKEN }] : (error.errors ?? []);
    const left = showErrors(this.inputs, errors);
    const count = errors.length;
    this.sayBad(
      count
        ? `${count} ${count === 1 ? "field needs" : "fields need"} a correction`
        : error.message,
    );
    if (left.length)
      fill(
        this.over,
        left.map((text) => h("p", { class: "problem" }, icon("alert"), h("span", {}, text))),
      );
    this.form.querySelector("[aria-invalid]")?.focus();
  }

  /** Show the entry of the file beside the typed one; saving again replaces exactly that entry. */
  async compare() {
    const { data, etag } = await call("GET", this.path).catch(({ status }) => {
      this.gone = status === 404;
      if (this.gone) this.sayBad(GONE);
      return { data: null, etag: null };
    });
    this.etag = etag;
    if (!data) return;
    this.now = data.trigger;
    this.tellOver();
  }

  revert() {
    const typed = JSON.parse(this.formText());
    writeForm(this.inputs, { name: this.name, ...(this.facts ?? NEW) });
    if (this.now === this.facts) this.now = null;
    this.was = this.clean;
    this.remember();
    this.tellOver();
    showErrors(this.inputs, []);
    const back = () => {
      writeForm(this.inputs, typed);
      this.remember();
    };
    toast("Changes discarded.", { action: "Undo", act: back });
    this.inputs.name.focus();
  }

  async toggle(event) {
    const { target } = event;
    const enabled = target.checked;
    await attempt(event, async () => {
      await this.saving;
      const { trigger, run, clients } = this.stored;
      await put(this.path, { trigger, run, enabled, clients }, { etag: this.etag });
      await this.reload();
    });
    if (target.isConnected) target.checked = this.stored.enabled;
  }

  run(event) {
    return attempt(event, async () => {
      const { sessionId, state } = await post(`${this.path}/run`);
      toast(state === "queued" ? "Waiting for a free place." : "Started.", {
        action: "Open chat",
        act: () => location.assign(`/projects/${this.slug}/chats/${sessionId}`),
      });
      await this.recent.load();
    });
  }

  discard(event) {
    const { facts, stored } = this;
    return attempt(event, async () => {
      this.leaving = true;
      await this.tagged; // let pending reads of the entry end before its deletion
      await remove(this.path).finally(() => {
        this.leaving = false;
      });
      const back = async () => {
        const { trigger, run, enabled, clients } = stored;
        await put(this.path, { trigger, run, enabled, clients });
        await this.saved(this.name);
      };
      const undo = facts && !facts.legacy && { action: "Undo", act: () => attempt(null, back) };
      toast(`${this.name} is deleted.`, undo || {});
      this.draft.forget();
      await this.saved(null);
    });
  }

  convert(event) {
    return attempt(event, async () => {
      await post(P(this.slug, "schedules", this.name, "convert"));
      toast("Converted. Its times stay as they were.");
      await this.saved(this.name);
    });
  }

  /** Read the etag of the entry that filled this form; if that has changed, keep a stale one. */
  tag() {
    const same = (record) =>
      JSON.stringify([record.trigger, record.run]) ===
      JSON.stringify([this.facts.trigger, this.facts.run]);
    const before = this.tagged;
    this.tagged = call("GET", this.path)
      .then(
        (answer) => {
          this.etag = same(answer.data.trigger) ? answer.etag : (this.etag ?? OTHER);
        },
        () => {},
      )
      .then(() => before);
  }

  /** Fill a new form with an offer; Save stores it. */
  suggest(given) {
    writeForm(this.inputs, given);
    this.remember();
  }

  /** Take a changed record into the live parts; the typed text stays. */
  refresh(fresh) {
    if (!fresh || fresh.invalid || !this.facts || this.leaving) return;
    this.stored = fresh;
    if (!this.facts.legacy) this.tag();
    this.live();
  }
}
