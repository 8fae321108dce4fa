import type { EscalationPolicy } from '../escalation/escalation-policy.ts';

export type AccessLevel = 'public' | 'private';

/** A topic. Times are milliseconds since the epoch. */
export interface Topic {
  readonly id: string;
  readonly version: number;
  /** The name as written at creation. */
  readonly name: string;
  /** The name in lower case, for case-insensitive uniqueness. */
  readonly nameKey: string;
  readonly ownerId: string;
  readonly teamId: string | null;
  readonly accessLevel: AccessLevel;
  readonly description: string;
  readonly isDiscoverable: boolean;
  /** True for a discoverable public topic, which the public list contains. */
  readonly isListed: boolean;
  readonly iconName: string | null;
  readonly iconColor: string | null;
  readonly createdAt: number;
  /** The partition of the event log; never changes. */
  readonly partition: number;
  /** The offset after the last record of deleted topics of the same name; null without one. */
  readonly formerEnd: number | null;
  /** Retention in days; null means the retention of the owner's tier. */
  readonly retentionDays: number | null;
  /** Whether retention archives expired messages before it removes them; null means ARCHIVE_DEFAULT. */
  readonly archive: boolean | null;
  /** Legal hold, set by the operator: messages do not expire and the topic cannot be deleted. */
  readonly isHeld: boolean;
  /** What happens until a message is acknowledged; null: messages require no acknowledgement. */
  readonly escalation: EscalationPolicy | null;
  /** Updated in the commit that adds or removes a subscription. */
  readonly subscriberCount: number;
  /** Time of the last publish, or of the creation; delayed by some seconds. Lists are sorted by it. */
  readonly lastActivityAt: number;
}

const namePattern = /^[A-Za-z0-9_-]{1,64}$/;

/** Names that conflict with paths of Tocsin or of ntfy's clients. */
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

/** Returns the error for a name with invalid characters or length, or null. */
export function nameSyntaxFault(name: string): string | null {
  return namePattern.test(name) ? null : 'must be 1 to 64 of the characters A-Z, a-z, 0-9, _ and -';
}

/** Returns why the name cannot be used, as text for the caller; null if it can. */
export function topicNameFault(name: string): string | null {
  const fault = nameSyntaxFault(name);
  if (fault !== null) return fault;
  if (reservedNames.has(name.toLowerCase())) return 'is reserved, choose another';
  return null;
}

/** Returns the lookup key of a topic name. */
export function topicNameKey(name: string): string {
  return name.toLowerCase();
}
