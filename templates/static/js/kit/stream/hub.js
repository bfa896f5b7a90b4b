// One connection for all streams that pages follow: a browser allows six connections to a server
// for all its windows together. A page is a message port; it sends {follow, url, after, since},
// {end}, {bye} and {lives}, and receives {n, event, data, id}, {up} and {lost}. Beside the events of
// the service there are `open`, and `gone` when there is no such stream, which is asked for again.
// This file is the shared worker of all pages of an origin; it imports nothing, so that its URL
// with the version identifies all of its code.

const REST = 50; // ms: changes by pages that open or close together make one new connection
const SOON = 500;
const LATE = 2000; // ms between two tries at most, so that a page soon sees the service back
const SILENCE = 60_000; // the service sends something every 25 s; a silent connection is dead
const REFUSED = 10_000; // ms until a refused stream is requested again
const LONGEST = 12_000; // characters of the URL; the service accepts 16,384

/** @typedef {{port: MessagePort, follows: Map<number, Follow>}} Page */
/** @typedef {{page: Page, n: number, stream: Stream, open: boolean}} Follow */
/**
 * @typedef {{key: string | symbol, url: string, own: boolean, last: string, follows: Set<Follow>,
 *   live: boolean, refused: boolean}} Stream
 */

export class Hub {
  /** @type {Set<Page>} */
  pages = new Set();
  /** @type {Map<string | symbol, Stream>} */
  streams = new Map();
  lost = false;
  /** @type {AbortController | null} */
  abort = null;
  wait = SOON;
  timer = 0;
  due = 0;

  /** @param {MessagePort} port */
  connect(port) {
    /** @type {Page} */
    const page = { port, follows: new Map() };
    this.pages.add(page);
    port.onmessage = ({ data }) => this.hearMessage(page, data);
    if (this.lost) this.tell(page);
  }

  /**
   * @param {Page} page
   * @param {{follow?: number, url?: string, after?: string, since?: string, end?: number,
   *   bye?: boolean, lives?: string}} message
   */
  hearMessage(page, { follow, url = "", after, since, end, bye, lives }) {
    if (follow) this.follow(page, follow, url, after, since);
    else if (end) this.end(page, end);
    else if (bye) this.drop(page);
    // A page holds its lock while it lives; there is no event when it dies.
    else if (lives) navigator.locks.request(lives, () => this.drop(page));
  }

  /** @param {Page} page */
  drop(page) {
    for (const n of [...page.follows.keys()]) this.end(page, n);
    this.pages.delete(page);
  }

  /**
   * Pages share a stream, except one that continues `after` an id of the page's own. `since`: the
   * last event before the page read anything. If no event after it was missed, the page need not
   * read again.
   * @param {Page} page
   * @param {number} n
   * @param {string} url
   * @param {string} [after]
   * @param {string} [since]
   */
  follow(page, n, url, after, since) {
    const own = after !== undefined;
    const key = own ? Symbol(url) : url;
    let stream = this.streams.get(key);
    if (!stream) {
      const now = { last: after ?? since ?? "", live: false, refused: false };
      stream = { key, url, own, follows: new Set(), ...now };
      this.streams.set(key, stream);
      this.soon(this.abort ? REST : 0);
    }
    const whole = Boolean(since && stream.last && Number(stream.last) <= Number(since));
    const one = { page, n, stream, open: whole };
    page.follows.set(n, one);
    stream.follows.add(one);
    if (!stream.live) return;
    this.tell(page);
    if (!whole) this.open(one);
  }

  /**
   * @param {Page} page
   * @param {number} n
   */
  end(page, n) {
    const one = page.follows.get(n);
    if (!one) return;
    page.follows.delete(n);
    one.stream.follows.delete(one);
    if (one.stream.follows.size) return;
    this.streams.delete(one.stream.key);
    this.soon(REST);
  }

  /**
   * Schedule the next connection; of several calls the earliest time counts.
   * @param {number} ms
   */
  soon(ms) {
    const due = Date.now() + ms;
    if (this.timer && this.due <= due) return;
    clearTimeout(this.timer);
    this.due = due;
    this.timer = setTimeout(() => this.connection(), ms);
  }

  /** Replace the connection with one for the streams followed now. */
  async connection() {
    this.timer = 0;
    this.abort?.abort();
    this.abort = null;
    for (const stream of this.streams.values()) stream.live = false;
    if (!this.streams.size) return;
    const abort = new AbortController();
    this.abort = abort;
    let failed = false;
    await this.read(fitting([...this.streams.values()]), abort).catch(() => (failed = true));
    if (this.abort !== abort) return; // replaced by another
    this.abort = null;
    for (const stream of this.streams.values()) {
      stream.live = false;
      for (const one of stream.follows) one.open = false;
    }
    if (failed) this.say(true);
    this.soon(this.wait);
    this.wait = Math.min(this.wait * 2, LATE);
  }

  /**
   * @param {Stream[]} streams
   * @param {AbortController} abort
   */
  async read(streams, abort) {
    const { signal } = abort;
    let silence = 0;
    const spoke = () => {
      clearTimeout(silence);
      silence = setTimeout(() => abort.abort(), SILENCE);
    };
    try {
      spoke();
      const headers = { Accept: "text/event-stream" };
      const query = streams.map(queryOf).join("&");
      const response = await fetch(`/api/streams?${query}`, { headers, signal, cache: "no-store" });
      if (!response.ok || !response.body) throw new Error(`streams answered ${response.status}`);
      this.wait = SOON;
      this.say(false);
      const source = response.body.pipeThrough(new TextDecoderStream()).getReader();
      /** @type {Reading} */
      const reading = { streams, at: null };
      let rest = "";
      for (;;) {
        const { value, done } = await source.read();
        if (done || signal.aborted) return;
        spoke();
        const events = (rest + value).split("\n\n");
        rest = events.pop() ?? "";
        for (const event of events) this.deliver(reading, event);
      }
    } finally {
      clearTimeout(silence);
    }
  }

  /**
   * @param {Reading} reading
   * @param {string} text
   */
  deliver(reading, text) {
    const { stream, status, event = "message", id, data } = fields(text);
    if (stream) reading.at = reading.streams[Number(stream)];
    const { at } = reading;
    if (at && id !== undefined) at.last = id;
    if (at && status) this.beginStream(at, status);
    else if (at && data !== undefined)
      for (const { page, n } of at.follows) page.port.postMessage({ n, event, data, id });
    else if (text.startsWith(":")) for (const page of this.pages) this.tell(page);
  }

  /**
   * @param {Stream} stream
   * @param {string} status
   */
  beginStream(stream, status) {
    const gone = status === "404";
    stream.live = status === "200";
    stream.refused = !stream.live && !gone;
    if (!stream.live) this.soon(REFUSED);
    for (const one of stream.follows) {
      this.tell(one.page);
      if (gone) one.page.port.postMessage({ n: one.n, event: "gone" });
      // A page's own stream sends unfinished text again at each start; others matter after a loss.
      if (stream.live && (stream.own || !one.open)) this.open(one);
    }
  }

  /** @param {Follow} one */
  open(one) {
    one.open = true;
    one.page.port.postMessage({ n: one.n, event: "open" });
  }

  /** @param {boolean} lost */
  say(lost) {
    this.lost = lost;
    for (const page of this.pages) this.tell(page);
  }

  /** @param {Page} page */
  tell(page) {
    const refused = [...page.follows.values()].some((one) => one.stream.refused);
    page.port.postMessage(this.lost || refused ? { lost: true } : { up: true });
  }
}

/** @typedef {{streams: Stream[], at: Stream | null | undefined}} Reading */

/** @param {Stream} stream */
function queryOf({ url, last }) {
  const address = last === "" ? url : `${url}#${last}`;
  return `follow=${encodeURIComponent(address).replaceAll("%2F", "/")}`;
}

/**
 * As many streams as fit into a URL: shared ones first, then the most recent.
 * @param {Stream[]} streams
 */
function fitting(streams) {
  let length = 0;
  return streams
    .reverse()
    .sort((one, other) => Number(one.own) - Number(other.own))
    .filter((stream) => (length += queryOf(stream).length + 1) < LONGEST);
}

/** @param {string} text */
function fields(text) {
  /** @type {Record<string, string | undefined>} */
  const found = {};
  for (const line of text.split("\n")) {
    const [, field, value] = /^([a-z]+): ?(.*)$/s.exec(line) ?? [];
    if (field) found[field] = value;
  }
  return found;
}

if ("onconnect" in globalThis) {
  const hub = new Hub();
  const name = `svc-worker-${Math.random()}`;
  // Held while this worker lives: pages wait for the same lock, to notice when the worker dies.
  /** @type {Promise<void>} */
  const held = new Promise((done) => {
    navigator.locks?.request(name, () => {
      done();
      return new Promise(() => {});
    });
  });
  addEventListener("connect", (event) => {
    const [port] = /** @type {MessageEvent} */ (event).ports;
    hub.connect(port);
    held.then(() => port.postMessage({ lives: name }));
  });
}
