import type { Claim } from '@tocsin/shared/ports/deliveries.ts';
import type { PushDeps } from './push-deps.ts';
import { recordOutcomes, unsentOutcome } from './record-outcomes.ts';

/**
 * Fails at most 1,000 pushes of an expired message. Claims them as for a send, so that finished pushes do not change if
 * the job repeats. Resolves with the device IDs that could not be claimed.
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
    claims.filter(({ deviceId }) => claimed.has(deviceId)).map((claim) => unsentOutcome(claim, 'message expired')),
  );
  return claims.map(({ deviceId }) => deviceId).filter((deviceId) => !claimed.has(deviceId));
}
