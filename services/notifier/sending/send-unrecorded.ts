import type { Device } from '@tocsin/shared/domain/push/device.ts';
import type { PushDeps } from './push-deps.ts';
import { isToComeAgain, type PushGateway, type PushRequest } from '../providers/push-gateway.ts';
import { noteRefusals } from './refusal-report.ts';
import { retireDevice } from './retire-device.ts';

/** After a quarter of an hour of retries the push is obsolete, because the app shows the current state. */
const roundsMax = 20;
const pauseMsMax = 60_000;

/** The next retry round (0: the first send) and the pause before it; null after the last one. */
export function nextRound(
  { limits }: Pick<PushDeps, 'limits'>,
  round = 0,
): { readonly round: number; readonly delayMs: number } | null {
  return round < roundsMax ? { round: round + 1, delayMs: Math.min(limits.backoffMs * 2 ** round, pauseMsMax) } : null;
}

export interface UnrecordedSend {
  /** Devices whose provider accepted the push. */
  readonly accepted: readonly string[];
  /** Devices to retry: after a temporary error or a lost response. */
  readonly again: readonly string[];
  /** Devices whose push was rejected permanently, with the ledger's status. */
  readonly refused: ReadonlyMap<string, { readonly status: 'failed' | 'dead_token'; readonly reason: string }>;
}

/**
 * Sends a push without claims and ledger rows: for pushes that are not messages and can be duplicated, because
 * they replace themselves on the device. Skips devices of unconfigured providers.
 */
export async function sendUnrecorded(
  deps: PushDeps,
  devices: readonly Device[],
  pushFor: (gateway: PushGateway) => Omit<PushRequest, 'pushToken'>,
): Promise<UnrecordedSend> {
  const [accepted, again]: [string[], string[]] = [[], []];
  const refused = new Map<string, { status: 'failed' | 'dead_token'; reason: string }>();
  for (const [platform, ofPlatform] of Map.groupBy(devices, (device) => device.platform)) {
    const gateway = deps.gateways.get(platform);
    if (gateway === undefined) continue;
    const push = pushFor(gateway);
    for (let start = 0; start < ofPlatform.length; start += gateway.batchSizeMax) {
      const batch = ofPlatform.slice(start, start + gateway.batchSizeMax);
      const results = await gateway.send(batch.map(({ pushToken }) => ({ ...push, pushToken })));
      noteRefusals(deps, platform, results);
      for (const [index, { id, pushToken }] of batch.entries()) {
        const result = results[index]!;
        if (result.kind === 'accepted') accepted.push(id);
        else if (isToComeAgain(result)) again.push(id);
        else if (result.kind === 'dead-token') {
          refused.set(id, { status: 'dead_token', reason: result.reason });
          await retireDevice(deps, id, { ...result, pushToken, tookAt: gateway.tookAt() });
        } else if (result.kind === 'rejected') {
          refused.set(id, { status: 'failed', reason: result.reason });
          deps.log.warn({ platform, deviceId: id, reason: result.reason }, 'a push without a ledger row was rejected');
        }
      }
    }
  }
  return { accepted, again, refused };
}
