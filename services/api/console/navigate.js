/** Goes to another page of the console; `replace` leaves no way back to this one. */
export function navigate(path, { replace = false } = {}) {
  history[replace ? 'replaceState' : 'pushState'](null, '', path);
  dispatchEvent(new Event('navigated'));
}

/** The page that shows the login and afterwards comes back to this one. */
export function loginPath() {
  const here = location.pathname + location.search;
  return `/console/login?next=${encodeURIComponent(here)}`;
}

/** Where to go after a login: a path of the console, never another site. */
export function nextPath() {
  const next = new URLSearchParams(location.search).get('next') ?? '';
  return /^\/(console|auth)(\/|$)/.test(next) ? next : '/console';
}
