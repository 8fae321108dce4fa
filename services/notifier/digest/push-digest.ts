import { inDigestReason } from '@tocsin/shared/domain/push/digest.ts';
import type { Outcome } from '@tocsin/shared/ports/deliveries.ts';
import type { PushRequest } from '../providers/push-gateway.ts';
import type { PushDeps } from '../sending/push-deps.ts';
import { pushLevel } from '../sending/push-level.ts';
import { sendUnrecorded } from '../sending/send-unrecorded.ts';
import { unreadBadges } from '../sending/unread-badges.ts';
import { digestContent } from './digest-content.ts';
import type { DigestEntry } from './sort-items.ts';

const lifetimeMs = 24 * 3_600_000;

export interface PushedDigest {
  readonly outcomes: readonly Outcome[];
  /** Entries of devices whose provider must be tried again. */
  readonly again: readonly DigestEntry[];
}

/** Pushes the entries of one user, each device's together. */
export async function pushDigest(deps: PushDeps, ready: readonly DigestEntry[]): Promise<PushedDigest> {
  const [first] = ready;
  if (first === undefined) return { outcomes: [], again: [] };
  const { userId } = first.claim;
  const hasBadge = ready.some(({ subscription }) => subscription.badge !== 'none');
  const badge = hasBadge ? ((await unreadBadges(deps, [userId])).get(userId) ?? null) : null;
  const pushed = await Promise.all(
    [...Map.groupBy(ready, ({ claim }) => claim.deviceId).values()].map((entries) =>
      pushToDevice(deps, entries, badge),
    ),
  );
  return { outcomes: pushed.flatMap(({ outcomes }) => outcomes), again: pushed.flatMap(({ again }) => again) };
}

async function pushToDevice(
  deps: PushDeps,
  entries: readonly DigestEntry[],
  badge: number | null,
): Promise<PushedDigest> {
  const { device } = entries[0]!;
  const newestFirst = entries.toSorted(
    (a, b) => b.message.timestamp - a.message.timestamp || b.message.offset - a.message.offset,
  );
  const { again, refused } = await sendUnrecorded(deps, [device], ({ payloadBytesMax }) =>
    requestOf(deps, newestFirst, { badge, bytesMax: payloadBytesMax }),
  );
  if (again.length > 0) return { outcomes: [], again: entries };
  const now = deps.clock();
  const refusal = refused.get(device.id);
  deps.metrics.outcomes.inc({ platform: device.platform, status: refusal?.status ?? 'sent' });
  if (refusal === undefined)
    for (const subscriptionId of new Set(entries.map(({ claim }) => claim.subscriptionId)))
      deps.notifiedTimes.add(subscriptionId, now);
  const outcome = refusal ?? ({ status: 'sent', reason: inDigestReason(now) } as const);
  return { outcomes: entries.map(({ claim }): Outcome => ({ ...claim, ...outcome })), again: [] };
}

/** As loud as its loudest message, with the settings of the newest one of these. */
function requestOf(
  deps: PushDeps,
  newestFirst: readonly DigestEntry[],
  { badge, bytesMax }: { badge: number | null; bytesMax: number },
): Omit<PushRequest, 'pushToken'> {
  const now = deps.clock();
  const loud = newestFirst.find(({ message, subscription }) => pushLevel(message, subscription, deps) !== 'low');
  const settings = loud?.subscription;
  return {
    content: digestContent(newestFirst, { bytesMax, now }),
    level: loud === undefined ? 'low' : 'default',
    sound: settings?.soundEnabled === true ? settings.notificationSound : null,
    vibrates: settings?.vibrateEnabled === true,
    badge,
    // A repeated digest begins with the same message, and the next one does not.
    collapseId: `digest.${newestFirst.at(-1)!.message.id}`,
    expiresAt: Math.min(now + lifetimeMs, Math.max(...newestFirst.map(({ message }) => message.expiresAt))),
  };
}
