// The last runs of a trigger, beside its form.

import { get, P, query } from "../../kit/api.js";
import { fill, h, keep } from "../../kit/dom.js";
import { runRow } from "../parts.js";
import { stateOf } from "../words.js";

const MOST = 8;

/** recentRuns("demo", "nightly") → {node, load()}; load() reads the runs again. */
export function recentRuns(slug, name) {
  const list = h("ul");
  const all = `/projects/${slug}/runs?trigger=${encodeURIComponent(name)}`;
  const node = h(
    "aside",
    { class: "recent", "aria-label": "Recent runs" },
    h(
      "div",
      { class: "line" },
      h("h2", {}, "Recent runs"),
      h("a", { class: "push tiny link", href: all }, "All"),
    ),
    list,
  );
  async function load() {
    const asked = query(P(slug, "runs"), { trigger: name, limit: MOST });
    const { runs } = await get(asked).catch(() => ({ runs: null }));
    if (!runs) return; // the connection bar says it
    if (!runs.length) {
      fill(list, h("li", { class: "tiny quiet" }, "Its runs will be listed here."));
      return;
    }
    const [last, ...before] = runs;
    const told = last.status === "failed" && last.reason; // the banner says why
    keep(
      list,
      [told ? { ...last, reason: null } : last, ...before],
      (one) => one.id,
      (one) => runRow(one, { title: stateOf(one.status).word }),
    );
  }
  return { node, load };
}
