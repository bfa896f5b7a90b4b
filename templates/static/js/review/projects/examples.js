// The example projects: added with progress, put away and restored.

import { post } from "../../kit/api.js";
import { toast } from "../../kit/toast.js";
import { plural } from "../../kit/words.js";
import { route } from "../route.js";

let adding = null;

/** Add the examples. `watch(busy)` is called at the start and the end. Concurrent calls are one. */
export function addExamples(watch) {
  adding ??= add(watch).finally(() => (adding = null));
  return adding;
}

async function add(watch) {
  watch(true);
  try {
    const { created, restored } = await post(route("examples"));
    const count = created.length + restored.length;
    if (count)
      toast(`${plural(count, "example project")} ${created.length ? "added" : "restored"}`);
  } catch (error) {
    toast(error.message, { bad: true });
  } finally {
    watch(false);
  }
}

/** Put the examples away. Nothing is deleted: Undo restores them with every comment. */
export async function removeExamples(watch) {
  try {
    const { removed } = await post(route("examples", "remove"));
    toast(`${plural(removed.length, "example project")} put away`, {
      action: "Undo",
      act: () => addExamples(watch),
    });
  } catch (error) {
    toast(error.message, { bad: true });
  }
}
