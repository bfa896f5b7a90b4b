// The data of the page: loaded once; after that, only what an event names is fetched again.

import { get } from "../kit/api.js";
import { route } from "./route.js";

const EVERYTHING = "state";
const STARTING_MS = 1000;
const TOGETHER_MS = 60; // one change sends several events in quick succession
const MANY = 20; // parts due; for more, one fetch of everything is less work for both sides
const OLD_MS = 60_000; // bars, latencies and staleness change with time alone, without an event

/** Fetches one at a time, so that an answer is never older than the event that asked for it. */
export class Board {
  state = null;
  due = new Set();
  busy = false;
  at = 0;

  /** `changed(state)` after each fetch; `failed(error)` while there is nothing to show. */
  constructor({ changed, failed }) {
    this.changed = changed;
    this.failed = failed;
    setInterval(() => this.renew(), OLD_MS / 4);
    document.addEventListener("visibilitychange", () => this.renew());
  }

  /** Fetch "state", "apps/<slug>", "bookmarks", "observed" or "lost" soon. */
  async want(what) {
    this.due.add(what);
    if (this.busy) return;
    this.busy = true;
    while (this.due.size) {
      if (this.state) await new Promise((done) => setTimeout(done, TOGETHER_MS));
      await this.fetch();
    }
    this.busy = false;
  }

  renew() {
    if (!document.hidden && this.state && Date.now() - this.at > OLD_MS) this.want(EVERYTHING);
  }

  async fetch() {
    const due = [...this.due];
    this.due.clear();
    const whole = !this.state || due.includes(EVERYTHING) || due.length > MANY;
    try {
      if (whole) {
        this.state = await get(route(EVERYTHING));
        this.at = Date.now();
      } else await Promise.all(due.map((what) => this.part(what)));
    } catch (error) {
      if (error.status === 503) setTimeout(() => this.want(EVERYTHING), STARTING_MS);
      if (!this.state) this.failed(error);
      return;
    }
    this.changed(this.state);
  }

  async part(what) {
    const [kind, slug] = what.split("/");
    if (kind === "apps") await this.app(slug);
    else if (kind === "lost") this.state.lost = (await get(route("lost"))).lost;
    else if (kind === "observed") this.state.observed = (await get(route("observed"))).observed;
    else if (kind === "bookmarks") this.state.bookmarks = (await get(route("bookmarks"))).groups;
  }

  async app(slug) {
    try {
      this.put(await get(route("apps", slug)));
    } catch (error) {
      if (error.status !== 404) throw error;
      this.drop(slug);
    }
  }

  find(slug) {
    return this.state?.apps.find((app) => app.slug === slug);
  }

  /** Store an app from an answer of the service, along with the errors of its own file. */
  put(app) {
    const { apps } = this.state;
    const at = apps.findIndex(({ slug }) => slug === app.slug);
    this.replaceErrors(at < 0 ? null : apps[at], app.fileErrors);
    if (at < 0) apps.push(app);
    else apps[at] = app;
  }

  drop(slug) {
    this.replaceErrors(this.find(slug), []);
    this.state.apps = this.state.apps.filter((app) => app.slug !== slug);
  }

  replaceErrors(before, errors) {
    const files = new Set([...(before?.fileErrors ?? []), ...errors].map(({ file }) => file));
    if (!files.size) return;
    const others = this.state.fileErrors.filter(({ file }) => !files.has(file));
    this.state.fileErrors = [...others, ...errors];
  }

  /** Fetch what an event of the stream says has changed. */
  hearEvent({ type, slug, reason }) {
    const one = type === "state" || type === "thumb" || (type === "app" && reason !== "error");
    if (one) this.want(`apps/${slug}`);
    else if (type === "reboot") this.want("lost");
    else if (type === "bookmarks" || type === "observed") this.want(type);
    else this.want(EVERYTHING);
  }
}
