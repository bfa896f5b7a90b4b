// Open a folder: a dialogue that completes a path while the user types, and offers known folders.
// One press makes a project of a folder, or goes to the project that works there.

import { get, post, query } from "../../kit/api.js";
import { dialog } from "../../kit/dialog.js";
import { button, fill, h, icon, settle } from "../../kit/dom.js";

const REST = 60; // ms after the last key
/** @type {Record<string, string>} */
const SOURCES = { claude: "Claude Code", codex: "Codex", review: "Review", apps: "App" };

/** @typedef {{path: string, sources: string[], repository: boolean, project: string | null}} Folder */

/** @param {() => void} make opens the form for a clone or an empty folder */
export function openFolder(make) {
  if (!document.querySelector("dialog[open]")) new Opening(make);
}

class Opening {
  /** @type {Folder[]} */
  shown = [];
  at = 0;
  asked = 0;
  /** @type {string | undefined} the text for which `shown` is the answer */
  answered;
  busy = false;

  /** @param {() => void} make */
  constructor(make) {
    this.list = h("div", {
      ...{ id: "folders", class: "options", role: "listbox", "aria-label": "Folders" },
    });
    this.status = h("p", { class: "hint", role: "status" });
    this.input = h("input", {
      ...{ class: "input mono", type: "text", role: "combobox", placeholder: "~/code/…" },
      ...{ "aria-label": "Path of the folder", "aria-expanded": "true" },
      ...{ "aria-controls": "folders", "aria-autocomplete": "list", autocomplete: "off" },
      ...{ spellcheck: "false", autocapitalize: "off" },
    });
    this.name = h("input", { class: "input", id: "folder-name", autocomplete: "off" });
    this.named = h(
      "div",
      { class: "field", hidden: true },
      h("label", { for: "folder-name" }, "Name of the project"),
      this.name,
    );
    this.why = h("p", { class: "problem", role: "alert", hidden: true });
    const close = button("Close", { kind: "ghost phone-only", onclick: () => this.node.close() });
    const other = () => {
      this.node.close();
      make();
    };
    this.node = dialog(
      "Open a folder",
      h("div", { class: "line" }, this.input, close),
      this.list,
      h(
        "div",
        { class: "stack open-foot" },
        this.named,
        this.why,
        this.status,
        h(
          "p",
          { class: "tiny quiet" },
          "Agents work in the folder as it is; nothing of svc is written into it. ",
          h(
            "button",
            { type: "button", class: "link", onclick: other },
            "Work on a copy, or in an empty folder",
          ),
        ),
      ),
    );
    this.node.classList.add("goto");
    const later = settle(REST, () => this.ask());
    this.input.addEventListener("input", () => {
      this.refuse("");
      this.named.hidden = true;
      later();
    });
    this.node.addEventListener("keydown", (event) => this.onKey(event));
    this.ask();
    this.input.focus();
  }

  async ask() {
    const prefix = this.input.value.trim();
    const turn = ++this.asked;
    let answer = { folders: [], more: false, problem: "" };
    try {
      answer = await get(query("/api/folders", prefix ? { prefix } : {}));
    } catch (error) {
      answer.problem = error.message;
    }
    if (turn !== this.asked || !this.node.open) return; // only the newest answer counts
    this.shown = this.withExact(prefix, answer.folders);
    this.answered = prefix;
    this.at = 0;
    this.draw(prefix, answer);
  }

  /**
   * A path that ends with a slash is itself offered as a folder, before the folders in it.
   * @param {string} prefix
   * @param {Folder[]} folders
   */
  withExact(prefix, folders) {
    if (!prefix.endsWith("/")) return folders;
    const whole = prefix.replace(/\/+$/, "") || "/";
    return [{ path: whole, sources: [], repository: false, project: null }, ...folders];
  }

  /**
   * @param {string} prefix
   * @param {{more: boolean, problem: string}} answer
   */
  draw(prefix, { more, problem }) {
    const none = prefix ? "No folder begins like that." : "Type the path of a folder.";
    fill(
      this.list,
      !prefix &&
        this.shown.length > 0 &&
        h("div", { class: "options-head", role: "presentation" }, "Known on this machine"),
      this.shown.map((folder, n) => this.option(folder, n)),
    );
    this.status.textContent =
      problem || (this.shown.length ? (more ? "More than these: type on." : "") : none);
    this.point();
  }

  /**
   * @param {Folder} folder
   * @param {number} n
   */
  option(folder, n) {
    const { path, sources, repository, project } = folder;
    const known = sources.map((one) => SOURCES[one] ?? one).join(", ");
    const hint = [project && `project ${project}`, known, repository && !known && "git"];
    const look = (/** @type {Event} */ event) => {
      event.stopPropagation();
      this.complete(folder);
    };
    return h(
      "div",
      {
        ...{ id: `folder-${n}`, role: "option", class: "option", "aria-selected": "false" },
        onclick: () => this.open(folder),
      },
      icon(repository ? "branch" : "folder"),
      h("span", { class: "cut mono" }, path),
      h("span", { class: "hint cut push" }, hint.filter(Boolean).join(" · ")),
      // For the pointer only: the keyboard has Tab, and an option may not contain a button.
      h(
        "span",
        { class: "look", "aria-hidden": "true", title: "Look inside", onclick: look },
        icon("right"),
      ),
    );
  }

  point() {
    this.list.querySelector("[aria-selected=true]")?.setAttribute("aria-selected", "false");
    const node = document.getElementById(`folder-${this.at}`);
    node?.setAttribute("aria-selected", "true");
    node?.scrollIntoView({ block: "nearest" });
    this.input.setAttribute("aria-activedescendant", node ? node.id : "");
  }

  /** @param {Folder} folder */
  complete({ path }) {
    this.input.value = `${path}/`;
    this.input.focus();
    this.refuse("");
    this.named.hidden = true;
    this.ask();
  }

  /** @param {KeyboardEvent} event */
  async onKey(event) {
    const count = this.shown.length || 1;
    /** @type {Record<string, number>} */
    const steps = {
      ArrowDown: (this.at + 1) % count,
      ArrowUp: (this.at - 1 + count) % count,
      PageDown: Math.min(this.at + 8, count - 1),
      PageUp: Math.max(this.at - 8, 0),
    };
    const next = steps[event.key];
    const there = this.shown[this.at];
    const typing = event.target === this.input;
    if (next !== undefined && typing) {
      event.preventDefault();
      this.at = next;
      this.point();
    } else if (event.key === "Tab" && !event.shiftKey && typing && there && this.named.hidden) {
      event.preventDefault();
      this.complete(there);
    } else if (
      event.key === "Enter" &&
      !event.isComposing &&
      (typing || event.target === this.name)
    ) {
      event.preventDefault();
      // Wait for the answer to the typed path, so that no folder of an older answer is opened.
      while (this.node.open && this.answered !== this.input.value.trim()) await this.ask();
      if (this.node.open) this.open(this.shown[this.at] ?? this.typedFolder());
    }
  }

  /** The typed path when it is not in the list; the service says what is wrong with it. */
  typedFolder() {
    return { path: this.input.value.trim(), sources: [], repository: false, project: null };
  }

  /** @param {Folder} folder */
  async open({ path, project }) {
    if (this.busy || !path) return;
    if (project) {
      location.assign(`/projects/${project}`);
      return;
    }
    this.busy = true;
    this.refuse("");
    const name = this.named.hidden ? nameOf(path) : this.name.value.trim();
    try {
      const made = await post("/api/projects", { name, path });
      location.assign(`/projects/${made.project.slug}`);
    } catch (error) {
      this.explain(error, path, name);
    } finally {
      this.busy = false;
    }
  }

  /**
   * Ask for another name if the name is taken or cannot become an address; show any other error.
   * @param {any} error
   * @param {string} path
   * @param {string} name
   */
  explain(error, path, name) {
    const aboutName = error.code === "exists" || /^(name|slug): /.test(error.message);
    if (aboutName) {
      this.input.value = path;
      this.answered = path;
      this.shown = [{ path, sources: [], repository: false, project: null }];
      this.at = 0;
      this.draw(path, { more: false, problem: "" });
      this.named.hidden = false;
      this.name.value = name;
      this.name.select();
      this.name.focus();
    }
    const said = error.errors[0]?.reason ?? error.message;
    if (error.code === "exists")
      this.refuse(`There is a project called ${name}: give another name.`);
    else if (said.includes("pass slug"))
      this.refuse(
        "Give a name with a letter from a to z or a digit, of which its address is made.",
      );
    else this.refuse(said);
  }

  /** @param {string} text */
  refuse(text) {
    this.why.hidden = !text;
    fill(this.why, text && [icon("alert"), h("span", {}, text)]);
  }
}

/** @param {string} path */
const nameOf = (path) => path.replace(/\/+$/, "").split("/").at(-1) || path;
