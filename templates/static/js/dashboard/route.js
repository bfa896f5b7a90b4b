// The URL of a route of this part, relative to <base href>: the same on its port and its mount.

export const route = (...parts) => ["api", ...parts.map(encodeURIComponent)].join("/");
