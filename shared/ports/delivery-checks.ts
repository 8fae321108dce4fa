import type { Claim, Outcome } from './deliveries.ts';

/** Input checks shared by all drivers of the deliveries port. */
const deliveryLimits = { claims: 1_000, deviceIds: 1_000 } as const;

/** Returns one claim per device. Throws RangeError for too many claims or claims of more than one message. */
export function checkClaims(claims: readonly Claim[]): Claim[] {
  if (claims.length > deliveryLimits.claims)
    throw new RangeError(`at most ${deliveryLimits.claims} claims per call, got ${claims.length}`);
  const messageId = claims[0]?.messageId;
  if (claims.some((claim) => claim.messageId !== messageId))
    throw new RangeError('all claims of a call must be for one message');
  return [...new Map(claims.map((claim) => [claim.deviceId, claim])).values()];
}

/** Splits outcomes into chunks for one write each. Keeps only the last outcome per message and device. */
export function chunkOutcomes(outcomes: readonly Outcome[], chunkSizeMax: number): Outcome[][] {
  const last = [
    ...new Map(
      outcomes.map((outcome) => [`${outcome.messageId.length} ${outcome.messageId}${outcome.deviceId}`, outcome]),
    ).values(),
  ];
  return Array.from({ length: Math.ceil(last.length / chunkSizeMax) }, (_, part) =>
    last.slice(part * chunkSizeMax, (part + 1) * chunkSizeMax),
  );
}

export function checkDeviceIds(deviceIds: readonly string[] | undefined): void {
  if ((deviceIds?.length ?? 0) > deliveryLimits.deviceIds)
    throw new RangeError(`at most ${deliveryLimits.deviceIds} devices per call`);
}
