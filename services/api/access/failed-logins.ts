import { hashSecret } from '@tocsin/shared/platform/secrets.ts';
import type { ApiDeps } from '../api-deps.ts';
import { auditAs, auditOf } from '../audit.ts';
import type { RequestContext } from '../http/route.ts';

/**
 * The maximum of recorded refusals per minute, so that a flood of guesses does not become a flood of writes and
 * hide other entries.
 */
const recordedPerMinute = { address: 10, account: 10, installation: 600 } as const;

export interface FailedLogin {
  readonly method: 'password' | 'google' | 'apple';
  readonly reason: string;
  /** The account, if known. */
  readonly account: { readonly id: string; readonly email: string } | null;
}

/** Records a refused login; never rejects. The last entry of a minute states that further refusals are not recorded. */
export async function recordFailedLogin(
  deps: Pick<ApiDeps, 'clock' | 'engine' | 'log' | 'makeId' | 'wholeAddress'>,
  context: RequestContext,
  { method, reason, account }: FailedLogin,
): Promise<void> {
  await record(deps, context, account?.email ?? null, async (isLast) => {
    const audit = auditAs(deps, context, { actor: 'anonymous', through: 'nothing' });
    await deps.engine.documents.commit(
      audit({
        action: 'login.failed',
        subject: account === null ? null : { id: account.id },
        details: { method, reason, further_unrecorded: isLast },
      }),
    );
  });
}

/** Records a wrong current password, within the same limits. */
export async function recordFailedCheck(
  deps: Pick<ApiDeps, 'clock' | 'engine' | 'log' | 'makeId' | 'wholeAddress'>,
  context: RequestContext,
  account: { id: string; email: string },
): Promise<void> {
  const audit = auditOf(deps, context);
  await record(deps, context, account.email, async (isLast) => {
    await deps.engine.documents.commit(
      audit({ action: 'password.check_failed', subject: { id: account.id }, details: { further_unrecorded: isLast } }),
    );
  });
}

/** Records a wrong token of a request to `/admin`, within the same limits; never rejects. */
export async function recordRefusedOperator(
  deps: Pick<ApiDeps, 'clock' | 'engine' | 'log' | 'makeId' | 'wholeAddress'>,
  from: RefusedRequest,
): Promise<void> {
  const audit = auditAs(deps, from, { actor: 'anonymous', through: 'nothing' });
  await record(deps, from, null, async (isLast) => {
    await deps.engine.documents.commit(
      audit({ action: 'operator.refused', subject: null, details: { further_unrecorded: isLast } }),
    );
  });
}

type RefusedRequest = Pick<RequestContext, 'request' | 'address'>;

/** The refusal applies whether or not it could be recorded. */
async function record(
  deps: Pick<ApiDeps, 'clock' | 'engine' | 'log'>,
  context: Pick<RequestContext, 'address'>,
  email: string | null,
  write: (isLast: boolean) => Promise<void>,
): Promise<void> {
  try {
    const room = await takeRoom(deps, context, email);
    if (room !== 'none') await write(room === 'last');
  } catch (error) {
    deps.log.warn({ err: error }, 'could not record a refusal');
  }
}

/** A separate call for each window: their keys may be on different nodes of a Redis cluster. */
async function takeRoom(
  { engine: { bus }, clock }: Pick<ApiDeps, 'clock' | 'engine'>,
  { address }: Pick<RequestContext, 'address'>,
  email: string | null,
): Promise<'none' | 'last' | 'more'> {
  const counted = { address, account: email, installation: '' };
  let room: 'last' | 'more' = 'more';
  for (const kind of ['address', 'account', 'installation'] as const) {
    const holder = counted[kind];
    if (holder === null) continue;
    const window = {
      key: `recorded-refusals:{${kind} ${hashSecret(holder)}}`,
      limit: recordedPerMinute[kind],
      span: { lengthMs: 60_000 },
    };
    const { accepted, windows } = await bus.takeBudget([window], clock());
    if (!accepted) return 'none';
    if (windows[0]!.remaining === 0) room = 'last';
  }
  return room;
}
