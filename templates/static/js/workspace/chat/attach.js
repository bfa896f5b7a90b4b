// Attachments of a message: chosen, pasted or dropped, stored in the project, named in the prompt.

import { P } from "../../kit/api.js";
import { button, h, icon, keep } from "../../kit/dom.js";
import { draftOf, keepDraft, offerLeft } from "../../kit/drafts.js";
import { toast } from "../../kit/toast.js";

const PICTURE = /\.(?:png|jpe?g|gif|webp|avif)$/i;
// The path as the service writes it in a prompt: absolute if the agent works in another directory.
const NAMED = /^- (?:\/.*\/)?(\.svc\/attachments\/\S+) \(/gm;
const MOST = 20;

const addressOf = (project, path) => P(project, "attachments", path.split("/").pop());

/** The pictures that a prompt names, each linked to its file; null if it names none. */
export function pictures(prompt, project) {
  const found = [...prompt.matchAll(NAMED)].map(([, path]) => path).filter((p) => PICTURE.test(p));
  if (!found.length) return null;
  return h(
    "p",
    { class: "shots" },
    [...new Set(found)].slice(0, MOST).map((path) => {
      const src = addressOf(project, path);
      const name = path.split("/").pop();
      return h(
        "a",
        { href: src, target: "_blank", rel: "noopener" },
        h("img", { src, alt: name, loading: "lazy" }),
      );
    }),
  );
}

/**
 * attachments({box, zone, project, name}) → {list, input, pick(), paths(), again(), clear(paths), there()}:
 * the attachments of the message in `box`, kept with its text under `name` until it is sent. A file
 * that is dropped or pasted is uploaded at once; there() waits for running uploads and resolves to
 * whether all succeeded.
 */
export function attachments({ box, zone, project, name: key }) {
  let files = [];
  let number = 0;
  const coming = new Set(); // running uploads: promises of whether they succeed
  const list = h("ul", { class: "attached", "aria-label": "Attached files", hidden: true });
  const input = h("input", { type: "file", multiple: true, hidden: true, tabindex: "-1" });
  const keepAndDraw = () => {
    const kept = files.filter(({ path }) => path).map(({ name, path }) => ({ name, path }));
    keepDraft(key, kept.length ? JSON.stringify(kept) : "");
    draw();
  };
  const draw = () => {
    list.hidden = files.length === 0;
    keep(
      list,
      files.map(({ id, name, state, path }) => ({ id, name, state, path })),
      (one) => one.id,
      row,
    );
  };
  const row = ({ id, name, state, path }) =>
    h(
      "li",
      { class: "attachment", "aria-busy": state === "busy" ? "true" : null },
      path && PICTURE.test(path)
        ? h("img", { src: addressOf(project, path), alt: "" })
        : icon(state === "busy" ? "up" : "file"),
      h("span", { class: "cut", title: name }, name),
      state === "busy" && h("span", { class: "sr" }, "is being uploaded"),
      button("", {
        icon: "x",
        kind: "ghost s only",
        "aria-label": `Leave out ${name}`,
        onclick: () => {
          files = files.filter((file) => file.id !== id);
          keepAndDraw();
          box.focus();
        },
      }),
    );

  const add = async (file) => {
    const name = file.name || `pasted-${Date.now()}.png`;
    const entry = { id: (number += 1), name, state: "busy", path: null };
    files = [...files, entry];
    draw();
    try {
      const { path } = await upload(project, name, file);
      Object.assign(entry, { path, state: "there" });
    } catch (error) {
      if (!files.includes(entry)) return true; // it was removed in the meantime
      files = files.filter((one) => one !== entry);
      toast(`${name}: ${error.message}`, { bad: true });
    }
    keepAndDraw();
    return entry.path !== null;
  };
  const take = (given) => {
    const room = MOST - files.length;
    if (given.length > room) toast(`At most ${MOST} files go with one message.`, { bad: true });
    for (const file of given.slice(0, Math.max(0, room))) {
      const one = add(file);
      coming.add(one);
      one.finally(() => coming.delete(one));
    }
  };

  const there = (text) =>
    parseFiles(text).map((one) => ({ id: (number += 1), state: "there", ...one }));
  const again = () => {
    const busy = files.filter(({ path }) => !path);
    files = [...there(draftOf(key)), ...busy];
    draw();
  };
  again();
  const join = (text) => {
    files = [...files, ...there(text)];
    keepAndDraw();
    box.focus();
  };
  const namesOf = (text) =>
    parseFiles(text)
      .map(({ name }) => name)
      .join(", ");
  queueMicrotask(() => list.parentNode && offerLeft(list, key, join, namesOf)); // by then

  input.addEventListener("change", () => {
    take([...input.files]);
    input.value = "";
  });
  box.addEventListener("paste", (event) => {
    const given = [...(event.clipboardData?.files ?? [])];
    if (!given.length) return;
    event.preventDefault();
    take(given);
  });
  const over = (event) => {
    if (!event.dataTransfer?.types.includes("Files")) return;
    event.preventDefault();
    zone.classList.add("over");
  };
  zone.addEventListener("dragenter", over);
  zone.addEventListener("dragover", over);
  zone.addEventListener("dragleave", (event) => {
    if (!zone.contains(event.relatedTarget)) zone.classList.remove("over");
  });
  zone.addEventListener("drop", (event) => {
    zone.classList.remove("over");
    if (!event.dataTransfer?.files.length) return;
    event.preventDefault();
    take([...event.dataTransfer.files]);
  });
  return {
    list,
    input,
    pick: () => input.click(),
    paths: () => files.filter((file) => file.path).map((file) => file.path),
    there: async () => (await Promise.all(coming)).every(Boolean),
    again,
    clear: (sent) => {
      files = files.filter(({ path }) => !sent.includes(path));
      keepAndDraw();
    },
  };
}

/** Attachments of an unsent message: [{name, path}]. */
function parseFiles(text) {
  try {
    return JSON.parse(text);
  } catch {
    return [];
  }
}

async function upload(project, name, file) {
  const path = `${P(project, "attachments")}?name=${encodeURIComponent(name)}`;
  let response;
  try {
    response = await fetch(path, {
      method: "POST",
      headers: { "Content-Type": "application/octet-stream" }, // the service detects the type
      body: file,
    });
  } catch {
    throw new Error("the service did not answer; attach it again.");
  }
  const answer = await response.json().catch(() => ({}));
  if (!response.ok) throw new Error(answer.error ?? `the service answered ${response.status}.`);
  return answer;
}
