// The time zone of a cron pattern: its own, else that of the project.

import { h } from "../../kit/dom.js";

/** The parts around the input: when it is shown, what empty means, and the known names. */
export const zoneHelp = (project) => ({
  show: "schedule cron",
  hint: `Left empty: that of the project, ${project}`,
  extra: h(
    "datalist",
    { id: "time-zones" },
    Intl.supportedValuesOf("timeZone").map((value) => h("option", { value })),
  ),
});
