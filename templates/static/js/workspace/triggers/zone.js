// The zone a cron is read in: one of its own, else that of the project.

import { h } from "../../kit/dom.js";

/** What stands around the input: when it matters, what empty means, the names there are. */
export const zoneHelp = (project) => ({
  show: "schedule cron",
  hint: `Left empty: that of the project, ${project}`,
  extra: h(
    "datalist",
    { id: "time-zones" },
    Intl.supportedValuesOf("timeZone").map((value) => h("option", { value })),
  ),
});
