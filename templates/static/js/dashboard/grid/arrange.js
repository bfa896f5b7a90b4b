// The order of the apps: what needs attention first, then groups, then what was found running.

import { needsAttention } from "../words.js";

const number = new Intl.Collator("en", { numeric: true, sensitivity: "base" });

const byName = (a, b) => number.compare(a.name, b.name) || number.compare(a.slug, b.slug);

/** `order`, then name; an app without `order` comes after those that have one. */
const byOrder = (a, b) => (a.order ?? Infinity) - (b.order ?? Infinity) || byName(a, b);

/** The sections [{key, title, slugs}] of the apps, without empty ones. */
export function arrange(apps) {
  const sections = new Map();
  const put = (key, title, app) => {
    if (!sections.has(key)) sections.set(key, { key, title, apps: [] });
    sections.get(key).apps.push(app);
  };
  const grouped = apps.some(({ group }) => group);
  for (const app of apps) {
    if (needsAttention(app)) put("attention", "Needs attention", app);
    else if (app.group) put(`group ${app.group}`, app.group, app);
    else if (app.source === "declared") put("declared", grouped ? "Other apps" : "Apps", app);
    else put("found", "Found running", app);
  }
  const rank = ({ key }) => ["attention", "", "declared", "found"].indexOf(key.split(" ")[0]);
  const place = (section) => (section.key.startsWith("group ") ? 1 : rank(section));
  return [...sections.values()]
    .toSorted((a, b) => place(a) - place(b) || number.compare(a.title, b.title))
    .map(({ key, title, apps: members }) => ({
      ...{ key, title },
      slugs: members.toSorted(byOrder).map(({ slug }) => slug),
    }));
}

const BAD_FIRST = ["down", "degraded", "starting", "stopping", "unknown", "up", "stopped"];
const nothing = (value) => value === null || value === undefined || value === "";

/** The value by which a column sorts; apps with equal or missing values are sorted by name. */
const COLUMNS = {
  name: () => 0,
  state: (app) => (needsAttention(app) ? -1 : BAD_FIRST.indexOf(app.state)),
  address: (app) => app.url ?? "",
  group: (app) => app.group ?? "",
  uptime: (app) => app.uptime?.["24h"] ?? null,
  latency: (app) => app.last?.ms ?? null,
  since: (app) => app.since ?? "",
};

/** The same apps as one section, sorted by a column. */
export function sortApps(apps, { column, down }) {
  const value = COLUMNS[column];
  const sign = down ? -1 : 1;
  const compare = (a, b) => {
    const [one, other] = [value(a), value(b)];
    if (nothing(one) !== nothing(other)) return nothing(one) ? 1 : -1;
    const found = typeof one === "string" ? number.compare(one, other ?? "") : one - (other ?? 0);
    return sign * (column === "name" ? byName(a, b) : found) || byName(a, b);
  };
  const slugs = apps.toSorted(compare).map(({ slug }) => slug);
  return slugs.length ? [{ key: "all", title: "All apps", slugs }] : [];
}

/**
 * Place a new app last in its section; an app that leaves it leaves a gap (""), which the next new
 * one fills, so that no other app moves under the reader. `gaps: false` closes the gaps.
 */
export function placeApps(before, fresh, { gaps = true } = {}) {
  const was = new Map(before.map(({ key, slugs }) => [key, slugs]));
  return fresh.map((section) => {
    const there = new Set(section.slugs);
    const slugs = withGaps(was.get(section.key) ?? [], there).filter((slug) => slug || gaps);
    const known = new Set(slugs);
    for (const slug of section.slugs.filter((one) => !known.has(one))) {
      const gap = slugs.indexOf("");
      slugs.splice(gap < 0 ? slugs.length : gap, gap < 0 ? 0 : 1, slug);
    }
    while (slugs.at(-1) === "") slugs.pop();
    return { ...section, slugs };
  });
}

const withGaps = (slugs, there) => slugs.map((slug) => (there.has(slug) ? slug : ""));

/**
 * Keep everything in place while the user is busy with the grid: new apps, and apps that would move
 * to another section, wait. Returns {sections, added, moved}.
 */
export function holdApps(before, fresh) {
  const now = new Map(fresh.flatMap(({ key, slugs }) => slugs.map((slug) => [slug, key])));
  const was = new Map(before.flatMap(({ key, slugs }) => slugs.map((slug) => [slug, key])));
  const sections = before
    .map((section) => ({ ...section, slugs: withGaps(section.slugs, now) }))
    .filter(({ slugs }) => slugs.some(Boolean));
  const added = [...now.keys()].filter((slug) => !was.has(slug));
  const moved = [...now].filter(([slug, key]) => was.has(slug) && was.get(slug) !== key);
  return { sections, added: added.length, moved: moved.length };
}
