export type AccessLevel = 'public' | 'private';

/** A topic. Times are milliseconds since the epoch. */
export interface Topic {
  readonly id: string;
  readonly version: number;
  /** As written at creation. */
  readonly name: string;
  /** The name in lower case: unique without regard to case. */
  readonly nameKey: string;
  readonly ownerId: string;
  readonly teamId: string | null;
  readonly accessLevel: AccessLevel;
  readonly description: string;
  readonly isDiscoverable: boolean;
  /** True for a discoverable public topic: what the public listing is made from. */
  readonly isListed: boolean;
  readonly iconName: string | null;
  readonly iconColor: string | null;
  readonly createdAt: number;
  /** The partition of the event log, chosen at creation and kept. */
  readonly partition: number;
  /** For how many days at most its messages are kept; null: as the owner's tier says. */
  readonly retentionDays: number | null;
  /** While true nothing of the topic expires, and it cannot be deleted. Set by the operator. */
  readonly isHeld: boolean;
  /** Changed in the commit that makes or removes a subscription. */
  readonly subscriberCount: number;
  /** The last publish, or the creation before the first one; some seconds behind. What listings are sorted by. */
  readonly lastActivityAt: number;
}

const nameForm = /^[A-Za-z0-9_-]{1,64}$/;

/** Names that would hide behind a path of ours, or of ntfy's clients. */
const reservedNames: ReadonlySet<string> = new Set([
  'api',
  'auth',
  'sse',
  'ws',
  'docs',
  'openapi',
  'health',
  'metrics',
  'console',
  'assets',
  'static',
  'admin',
  'json',
  'tocsin',
  'v1',
  'my',
  'public',
  'topics',
  'messages',
  'keys',
  'users',
  'teams',
  'devices',
  'subscriptions',
  'app',
  'file',
  'account',
  'settings',
  'signup',
  'login',
  'healthz',
  'livez',
  'readyz',
  'v2',
]);

/** What is wrong with a name's characters or length; null when nothing is. */
export function nameFormFault(name: string): string | null {
  return nameForm.test(name) ? null : 'must be 1 to 64 of the characters A-Z, a-z, 0-9, _ and -';
}

/** What is wrong with the name, as a sentence for whoever chose it; null when it can be used. */
export function topicNameFault(name: string): string | null {
  const fault = nameFormFault(name);
  if (fault !== null) return fault;
  if (reservedNames.has(name.toLowerCase())) return 'is reserved, choose another';
  return null;
}

/** The key that topic names are looked up by. */
export function topicNameKey(name: string): string {
  return name.toLowerCase();
}
