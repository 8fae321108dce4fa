import { ledgerKey } from '@tocsin/shared/domain/escalation/ledger-key.ts';
import { pushQueues, type PushQueue } from '@tocsin/shared/domain/push/push-job.ts';
import { isInDigest } from '@tocsin/shared/domain/push/digest.ts';
import type { Delivery } from '@tocsin/shared/ports/deliveries.ts';
import type { Escalation } from '@tocsin/shared/collections/escalation/escalations.ts';
import type { PushDeps } from '../sending/push-deps.ts';
import { pageSizeOf } from './page-size-of.ts';

/** A place in the rows of a message in the ledger. */
export interface ReachedPlace {
  /** 0: the first push; n: the n-th page of the escalation. */
  readonly pageIndex: number;
  /** The last device of the previous page of rows; null for the first page. */
  readonly after: string | null;
}

export interface Reached {
  /**
   * Without devices that an earlier page of the escalation reached: those have their notification. Without messages of
   * a digest: these have none.
   */
  readonly rows: readonly Delivery[];
  /** Null after the last page, and if `deviceIds` were given. */
  readonly next: ReachedPlace | null;
}

/**
 * Returns a page of the rows of the message's first push, and after them of those of its escalation's pages, or the
 * rows of the given devices.
 */
export async function readReached(
  { engine: { deliveries }, limits }: Pick<PushDeps, 'engine' | 'limits'>,
  of: { readonly messageId: string; readonly escalation: Pick<Escalation, 'pages'> | null },
  { pageIndex, after, deviceIds }: ReachedPlace & { readonly deviceIds?: readonly string[] | undefined },
): Promise<Reached> {
  const keys = [of.messageId, ...(of.escalation?.pages ?? []).map((page) => ledgerKey(of.messageId, page))];
  const key = keys[pageIndex];
  if (key === undefined) return { rows: [], next: null };
  const limit = deviceIds?.length ?? pageSizeOf(limits, after);
  const rows = await deliveries.find(
    key,
    deviceIds === undefined ? { limit, ...(after === null ? {} : { after }) } : { deviceIds, limit },
  );
  const earlier = new Set<string>();
  const found = rows.map(({ deviceId }) => deviceId);
  for (const former of found.length === 0 ? [] : keys.slice(0, pageIndex))
    for (const row of await deliveries.find(former, { deviceIds: found, limit: found.length }))
      if (hasNotification(row)) earlier.add(row.deviceId);
  const following =
    rows.length === limit
      ? { pageIndex, after: rows.at(-1)!.deviceId }
      : pageIndex + 1 < keys.length
        ? { pageIndex: pageIndex + 1, after: null }
        : null;
  return {
    rows: rows.filter((row) => hasNotification(row) && !earlier.has(row.deviceId)),
    next: deviceIds === undefined ? following : null,
  };
}

/** Returns the queue of the job for a page of rows, or for given devices. */
export const queueOfPage = (
  { limits }: Pick<PushDeps, 'limits'>,
  { after, deviceIds }: Pick<ReachedPlace, 'after'> & { readonly deviceIds?: readonly string[] | undefined },
): PushQueue =>
  after !== null || (deviceIds?.length ?? 0) > limits.firstPageSize ? pushQueues.normalPages : pushQueues.normal;

/** Or may get one now. */
const hasNotification = ({ status, reason }: Delivery): boolean =>
  (status === 'sent' && !isInDigest(reason)) || status === 'pending';
