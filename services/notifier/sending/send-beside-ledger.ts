import type { Device } from '@tocsin/shared/domain/push/device.ts';
import type { PushDeps } from './push-deps.ts';
import { isToComeAgain, type PushGateway, type PushRequest } from '../providers/push-gateway.ts';
import { noteRefusals } from './refusal-report.ts';
import { retireDevice } from './retire-device.ts';

/** Beyond a quarter of an hour of tries it is old news: the app has what became of a message, and how many there are. */
const roundsMax = 20;
const pauseMsMax = 60_000;

/** The round of tries after this one (0: the first send), and the pause before it; null when there is none. */
export function nextRound(
  { limits }: Pick<PushDeps, 'limits'>,
  round = 0,
): { readonly round: number; readonly delayMs: number } | null {
  return round < roundsMax ? { round: round + 1, delayMs: Math.min(limits.backoffMs * 2 ** round, pauseMsMax) } : null;
}

export interface SentBesideLedger {
  /** The devices whose provider took it. */
  readonly accepted: readonly string[];
  /** The devices to come back for: the provider puts them off, or the answer was lost. */
  readonly again: readonly string[];
}

/**
 * Sends one push to devices without claiming or recording it: for what is no message of its own and can come twice, since
 * it replaces itself on the phone. A device of a provider that is not configured gets none.
 */
export async function sendBesideLedger(
  deps: PushDeps,
  devices: readonly Device[],
  pushFor: (gateway: PushGateway) => Omit<PushRequest, 'pushToken'>,
): Promise<SentBesideLedger> {
  const [accepted, again]: [string[], string[]] = [[], []];
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
        else if (result.kind === 'dead-token')
          await retireDevice(deps, id, { ...result, pushToken, tookAt: gateway.tookAt() });
        else
          deps.log.warn(
            { platform, deviceId: id, reason: result.reason },
            'a push that the ledger has no row of was refused',
          );
      }
    }
  }
  return { accepted, again };
}
