/** Opens another page of the console. `replace` removes the current page from the history. */
export function navigate(path, { replace = false } = {}) {
  history[replace ? 'replaceState' : 'pushState'](null, '', path);
  dispatchEvent(new Event('navigated'));
}

/** Path of the login page, which returns to the current page after the login. */
export function loginPath() {
  const here = location.pathname + location.search;
  return `/console/login?next=${encodeURIComponent(here)}`;
}

/** Path to open after a login. Only paths of the console, never another site. */
export function nextPath() {
  const next = new URLSearchParams(location.search).get('next') ?? '';
  return /^\/(console|auth)(\/|$)/.test(next) ? next : '/console';
}
