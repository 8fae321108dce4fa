import type { Claim } from '@tocsin/shared/ports/deliveries.ts';
import type { PushDeps } from './push-deps.ts';
import { recordOutcomes } from './record-outcomes.ts';

/**
 * Gives up pushes of one message, which has expired; at most 1,000. They are claimed as for a send: what was sent, or is
 * over for another reason, stays so when its job comes again. Resolves with the device ids that could not be claimed.
 */
export async function expirePushes(
  deps: Pick<PushDeps, 'engine' | 'clock' | 'limits' | 'metrics'>,
  claims: readonly Claim[],
): Promise<string[]> {
  const claimed = await deps.engine.deliveries.claim(claims, {
    now: deps.clock(),
    staleAfterMs: deps.limits.claimStaleMs,
  });
  await recordOutcomes(
    deps,
    claims
      .filter(({ deviceId }) => claimed.has(deviceId))
      .map((claim) => ({ ...claim, status: 'failed', reason: 'message expired' })),
  );
  return claims.map(({ deviceId }) => deviceId).filter((deviceId) => !claimed.has(deviceId));
}
