export const homePath = '/console';
export const devicesPath = '/console/devices';
export const keysPath = '/console/keys';
export const topicPath = (name: string): string => `/console/topics/${encodeURIComponent(name)}`;

export const teamsPath = '/console/teams';
export const teamPath = (id: string): string => `${teamsPath}/${encodeURIComponent(id)}`;

export const notificationsPath = (name: string): string => `${topicPath(name)}/notifications`;
export const topicActivityPath = (name: string, range?: string): string =>
  `${topicPath(name)}/activity${range === undefined ? '' : `?range=${range}`}`;
/** `query` selects the records, such as `from_offset=0`; empty: the newest ones. */
export const topicLogPath = (name: string, query = ''): string =>
  `${topicPath(name)}/log${query === '' ? '' : `?${query}`}`;
export const scheduledPath = (name: string): string => `${topicPath(name)}/scheduled`;
export const topicSettingsPath = (name: string): string => `${topicPath(name)}/settings`;
export const adminPath = (tab: string): string => `/console/admin${tab === '' ? '' : `/${tab}`}`;

/** Path of the login page, which returns to the current page after the login. */
export const loginPath = (): string => `/console/login?next=${encodeURIComponent(location.pathname + location.search)}`;

/** Path to open after a login. Only paths of the console, never another site. */
export function nextPath(): string {
  const next = new URLSearchParams(location.search).get('next') ?? '';
  return /^\/(console|auth)(\/|$)/.test(next) ? next : homePath;
}

/** Returns the values of the URL fragment and removes it, so that tokens do not stay in the browser history. */
export function takeFragment(): URLSearchParams {
  const values = new URLSearchParams(location.hash.slice(1));
  if (location.hash !== '') history.replaceState(null, '', location.pathname + location.search);
  return values;
}
