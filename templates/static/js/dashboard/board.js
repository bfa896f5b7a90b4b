// What the page knows: loaded once, then only what an event names is fetched again.

import { get } from "../kit/api.js";
import { route } from "./route.js";

const EVERYTHING = "state";
const STARTING_MS = 1000;

/** One fetch at a time: an answer is never older than the event that asked for it. */
export class Board {
  /** `changed(state)` after each fetch; `failed(error)` while there is nothing to show. */
  constructor({ changed, failed }) {
    Object.assign(this, { changed, failed, state: null, due: new Set(), busy: false });
  }

  /** Fetch "state", "apps/<slug>", "bookmarks", "observed" or "lost" soon. */
  async want(what) {
    this.due.add(what);
    if (this.busy) return;
    this.busy = true;
    while (this.due.size) await this.fetch();
    this.busy = false;
  }

  async fetch() {
    const due = [...this.due];
    this.due.clear();
    const whole = !this.state || due.includes(EVERYTHING);
    try {
      if (whole) this.state = await get(route(EVERYTHING));
      else await Promise.all(due.map((what) => this.part(what)));
      this.changed(this.state);
    } catch (error) {
      if (error.status === 503) setTimeout(() => this.want(EVERYTHING), STARTING_MS);
      if (!this.state) this.failed(error);
    }
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
      this.state.apps = this.state.apps.filter((app) => app.slug !== slug);
    }
  }

  /** Take an app as an answer of the service has it. */
  put(app) {
    const { apps } = this.state;
    const at = apps.findIndex(({ slug }) => slug === app.slug);
    if (at < 0) apps.push(app);
    else apps[at] = app;
  }

  /** What an event of the stream asks to fetch (contract 13). */
  heard({ type, slug }) {
    if (type === "state" || type === "thumb") this.want(`apps/${slug}`);
    else if (type === "reboot") this.want("lost");
    else if (type === "bookmarks" || type === "observed") this.want(type);
    else this.want(EVERYTHING);
  }
}
