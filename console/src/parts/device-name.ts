const browsers = ['Edg', 'Firefox', 'HeadlessChrome', 'Chrome', 'Safari', 'curl'] as const;
const systems = ['iPhone', 'iPad', 'Android', 'Windows', 'Mac OS', 'Linux'] as const;

/** `Firefox on Linux`; the whole user agent for an unknown program. */
export function deviceName(userAgent: string | null): string {
  if (userAgent === null) return 'Unknown program';
  const browser = browsers.find((name) => userAgent.includes(`${name}/`));
  const system = systems.find((name) => userAgent.includes(name));
  if (browser === undefined) return userAgent;
  const name = { Edg: 'Edge', HeadlessChrome: 'Chrome' }[browser as string] ?? browser;
  return system === undefined ? name : `${name} on ${system}`;
}
