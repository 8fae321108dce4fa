/** The push services of Chrome, Firefox, Safari and Edge. `*.` stands for one or more labels. */
const knownWebPushHosts: readonly string[] = [
  'fcm.googleapis.com',
  'updates.push.services.mozilla.com',
  '*.push.services.mozilla.com',
  'web.push.apple.com',
  '*.push.apple.com',
  '*.notify.windows.com',
];

/**
 * Whether the host is one of the patterns. Browsers choose the URLs to which the notifier sends, so that it must not
 * send anywhere else. A pattern without a port matches the default port only; a host with a port is written
 * `host:port`.
 */
export function isWebPushHost(host: string, patterns: readonly string[]): boolean {
  return patterns.some((pattern) =>
    pattern.startsWith('*.') ? host.length > pattern.length - 1 && host.endsWith(pattern.slice(1)) : host === pattern,
  );
}

/** Returns the known hosts and those of the configuration. */
export function webPushHosts(configured: readonly string[] = []): readonly string[] {
  return [...knownWebPushHosts, ...configured];
}
