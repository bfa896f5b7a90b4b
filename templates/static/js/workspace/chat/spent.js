// The usage of turns in words: only what their engine reported.

import { meter } from "../../kit/bars.js";
import { h } from "../../kit/dom.js";
import { withCommas } from "../../kit/words.js";

/** 0.0123 as "$0.012", 3.4 as "$3.40" */
export function dollars(cost) {
  if (cost > 0 && cost < 0.0001) return "under $0.0001";
  const digits = cost >= 0.1 || cost === 0 ? 2 : cost >= 0.01 ? 3 : 4;
  return `$${cost.toFixed(digits)}`;
}

/** 980 as "980", 12,345 as "12.3k", 1,234,567 as "1.2M" */
export function short(count) {
  if (count < 10_000) return withCommas(count);
  const [by, unit] = count < 999_500 ? [1000, "k"] : [1e6, "M"];
  const size = count / by;
  return `${size < 99.95 ? size.toFixed(1).replace(/\.0$/, "") : Math.round(size)}${unit}`;
}

const isNumber = (value) => typeof value === "number";

/** The words "12.3k tokens" and "$0.012", as far as reported. */
export const facts = ({ usage, cost }) =>
  [
    usage?.totalTokens ? `${short(usage.totalTokens)} tokens` : "",
    isNumber(cost) ? dollars(cost) : "",
  ].filter(Boolean);

/** How full the context is; null if its size is unknown. */
export function fullness(context) {
  if (!context?.limit) return null;
  const { used, limit } = context;
  const share = Math.round((100 * used) / limit);
  const words = `${short(used)} of ${short(limit)} tokens`;
  return h(
    "span",
    {
      class: `fullness ${share >= 90 ? "nearly" : ""}`,
      title: `${withCommas(used)} of ${withCommas(limit)}`,
    },
    meter(used, limit),
    h("span", {}, `${share} %`),
    h("span", { class: "quiet" }, words),
  );
}
