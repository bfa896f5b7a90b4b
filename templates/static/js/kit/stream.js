// A server-sent event stream read with fetch: resumes by Last-Event-ID, rests while the tab is
// hidden (a browser gives one server six connections for all its tabs together).

import { connection } from "./connection.js";

const LONGEST = 2000; // ms between two tries: who looks at the page sees soon that it is back

/** follow("/api/events", {project: (data, id) => …}); returns stop(). */
export function follow(url, handlers, { lastId = "" } = {}) {
  const reader = new Reader(url, handlers, lastId);
  reader.start();
  return () => reader.end();
}

class Reader {
  constructor(url, handlers, lastId) {
    Object.assign(this, { url, handlers, lastId, wait: 500, ended: false, abort: null });
    this.visibility = () => (document.hidden ? this.abort?.abort() : this.start());
    document.addEventListener("visibilitychange", this.visibility);
  }

  end() {
    this.ended = true;
    document.removeEventListener("visibilitychange", this.visibility);
    this.abort?.abort();
  }

  async start() {
    if (this.abort || this.ended || document.hidden) return;
    this.abort = new AbortController();
    try {
      await this.read(this.abort.signal);
    } catch {
      if (!this.ended && !document.hidden) connection.lost();
    }
    this.abort = null;
    if (this.ended || document.hidden) return;
    setTimeout(() => this.start(), this.wait);
    this.wait = Math.min(this.wait * 2, LONGEST);
  }

  async read(signal) {
    const headers = { Accept: "text/event-stream" };
    if (this.lastId) headers["Last-Event-ID"] = this.lastId;
    const response = await fetch(this.url, { headers, signal, cache: "no-store" });
    if (!response.ok) throw new Error(`stream answered ${response.status}`);
    connection.up();
    this.wait = 500;
    this.handlers.open?.();
    const source = response.body.pipeThrough(new TextDecoderStream()).getReader();
    let rest = "";
    for (;;) {
      const { value, done } = await source.read();
      if (done) return;
      const events = (rest + value).replaceAll("\r\n", "\n").split("\n\n");
      rest = events.pop();
      for (const event of events) this.deliver(event);
    }
  }

  deliver(text) {
    let name = "message";
    let data = "";
    for (const line of text.split("\n")) {
      const [, field, value] = /^([a-z]+): ?(.*)$/s.exec(line) ?? [];
      if (field === "event") name = value;
      else if (field === "data") data += value;
      else if (field === "id") this.lastId = value;
    }
    if (data) this.handlers[name]?.(JSON.parse(data), this.lastId);
  }
}
