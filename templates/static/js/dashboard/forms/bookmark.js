// Bookmarks: a link added to a group, changed or removed, and new groups. The links are read and
// written as the file has them, so that keys unknown here are preserved.

import { call, get } from "../../kit/api.js";
import { toast } from "../../kit/toast.js";
import { route } from "../route.js";
import { ask, following, slugOf } from "./form.js";
import { putBack, textOf, undoable } from "./text.js";

const NEW = "";
const TRIES = 3;

/** Change the links of a group; after a concurrent write, read the file again and retry. */
async function change(group, edit) {
  for (let left = TRIES; ; left -= 1) {
    const { config, etag } = await get(route("bookmarks", group));
    const links = edit(config?.links ?? []);
    try {
      return await call("PATCH", route("bookmarks", group), { links }, { etag });
    } catch (error) {
      if (error.code !== "changed" || left === 1) throw error;
    }
  }
}

const withoutEmpty = (link) =>
  Object.fromEntries(Object.entries(link).filter(([, value]) => value));

const FIELDS = [
  { name: "url", label: "Address", class: "input mono", paths: ["url"] },
  { name: "name", label: "Name", maxlength: "80", hint: "Left empty: the host of its address" },
  { name: "description", label: "Description", maxlength: "500" },
  { name: "hotkey", label: "Key", maxlength: "1", hint: "One letter that opens it from this page" },
];

/** Rethrow an error with "links.3.url" shortened to "url", the name of the form's field. */
function toField(error) {
  for (const issue of error.body?.issues ?? [])
    issue.path = issue.path.replace(/^links[.[]\d+\]?\.?/, "");
  throw error;
}

/** `groups`: the existing [{group, name}]; `chosen`: the preselected one. */
export function newBookmark(groups, chosen) {
  const options = [...groups.map(({ group, name }) => [group, name]), [NEW, "New group…"]];
  const { fields } = ask("New bookmark", {
    keep: "bookmark",
    verb: "Add bookmark",
    shape: "plus",
    fields: [
      ...FIELDS,
      {
        name: "group",
        label: "Group",
        kind: "select",
        options,
        value: chosen ?? groups[0]?.group ?? NEW,
      },
      { name: "fresh", label: "Name of the new group", maxlength: "80", paths: ["slug"] },
    ],
    async send({ group, fresh, ...link }) {
      const links = [withoutEmpty(link)];
      try {
        if (group) await change(group, (all) => [...all, ...links]);
        else await create(fresh || "Bookmarks", links);
      } catch (error) {
        toField(error);
      }
      toast("Bookmark added.");
    },
  });
  const both = () => (fields.fresh.node.hidden = fields.group.value !== NEW);
  fields.group.input.addEventListener("change", both);
  both();
}

const create = (name, links = []) =>
  call("PUT", route("bookmarks", slugOf(name) || "bookmarks"), { name, links }, { create: true });

export function newGroup() {
  const { fields } = ask("New group of bookmarks", {
    intro: "Writes bookmarks/<name>.yaml.",
    keep: "group",
    verb: "Add group",
    shape: "plus",
    fields: [
      { name: "name", label: "Name", maxlength: "80" },
      { name: "slug", label: "Name of its file", class: "input mono", maxlength: "63" },
    ],
    async send({ name, slug }) {
      const body = { name, links: [] };
      await call("PUT", route("bookmarks", slug || "group"), body, { create: true });
      toast(`Added: bookmarks/${slug}.yaml`);
    },
  });
  following(fields.name, fields.slug);
}

/** Whether this is still the link: one at the expected position is, if its address is the same. */
const same = (link, url) => link?.url === url;

/** Whether the file still has the values shown; a missing name is shown as the host. */
const asSeen = (now, seen) =>
  FIELDS.every(
    ({ name }) =>
      String(now[name] || "") === String(seen[name] || "") || (name === "name" && !now.name),
  );

/** The current position of the link; -1 when the file does not have it. */
const placeOf = (all, at, { url }) =>
  same(all[at], url) ? at : all.findIndex((link) => same(link, url));

/** Save refuses if another writer has changed the link, and says how; a second Save replaces it. */
export function editBookmark(group, at, link) {
  let seen; // the link that was shown last
  ask(`Change ${link.name}`, {
    verb: "Save",
    keep: `bookmark ${group} ${link.url}`,
    was: JSON.stringify(link),
    fields: FIELDS.map((field) => ({ ...field, value: link[field.name] ?? "" })),
    async send(values, was) {
      if (seen === undefined) seen = JSON.parse(was);
      await change(group, (all) => {
        const place = seen ? placeOf(all, at, seen) : all.length;
        const now = all[place];
        if (seen && now === undefined) {
          seen = null;
          throw new Error("This bookmark is gone from the file. Save again to add it again.");
        }
        if (now && !asSeen(now, seen)) {
          seen = now;
          throw new Error(`${changedMessage(now)} Save again to replace that.`);
        }
        const { url, name, description, hotkey, ...rest } = now ?? {};
        return all.toSpliced(place, 1, { ...withoutEmpty(values), ...rest });
      }).catch(toField);
      toast("Saved.");
    },
  });
}

const changedMessage = ({ url, name, description, hotkey }) =>
  `This bookmark was changed meanwhile: ${[name, url, description, hotkey].filter(Boolean).join(", ")}.`;

/** Remove a link; Undo puts the file back as it was. */
export async function removeBookmark(group, at, { url, name }) {
  const before = await textOf("bookmarks", group);
  const { config } = await get(route("bookmarks", group));
  const links = config?.links ?? [];
  if (!same(links[at], url)) throw new Error("This bookmark has changed since you opened it.");
  const body = { links: links.toSpliced(at, 1) };
  const { etag } = await call("PATCH", route("bookmarks", group), body, { etag: before.etag });
  undoable(`Removed ${name}.`, () => putBack("bookmarks", group, before.text, { etag }));
}
