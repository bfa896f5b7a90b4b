// Undo: read the text of a file before a change, and put it back byte for byte.

import { call, get, post } from "../../kit/api.js";
import { toast } from "../../kit/toast.js";
import { route } from "../route.js";

const address = (kind, name) => `${route(kind, name)}?form=yaml`;

/** {text, etag} of the file of an app ("apps") or a group ("bookmarks"). */
export const textOf = (kind, name) => get(address(kind, name));

/** Put a text back over the file with this `etag`. */
export const putBack = (kind, name, text, condition) =>
  call("PUT", address(kind, name), { text }, condition);

/** Show what was done in a toast, whose Undo, offered for 8 s, calls `undo`. */
export const undoable = (words, undo) =>
  toast(words, {
    action: "Undo",
    act: () => undo().catch((error) => toast(error.message, { bad: true })),
  });

/** Move the file of an app or a group away; Undo brings it back as it was. */
export async function takeAway(kind, name, shown) {
  const { etag } = await textOf(kind, name);
  const { data } = await call("DELETE", route(kind, name), {}, { etag });
  undoable(`Moved ${shown} to ${data.removed}.`, () =>
    post(route("removed", "restore"), { file: data.removed }),
  );
}
