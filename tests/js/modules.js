// The files of the pages are modules, though no package.json beside them says so.

export const load = (url, context, next) =>
  next(url, url.includes("/templates/static/") ? { ...context, format: "module" } : context);
