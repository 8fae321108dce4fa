import type { Claim, Outcome } from './deliveries.ts';

/** What every driver of the deliveries port refuses or leaves out, said once. */
export const deliveryLimits = { claims: 1_000, deviceIds: 1_000 } as const;

/** The claims, one per device. Throws RangeError when they are too many, or of more than one message. */
export function checkClaims(claims: readonly Claim[]): Claim[] {
  if (claims.length > deliveryLimits.claims)
    throw new RangeError(`at most ${deliveryLimits.claims} claims at once, not ${claims.length}`);
  const messageId = claims[0]?.messageId;
  if (claims.some((claim) => claim.messageId !== messageId))
    throw new RangeError('claims are of one message at a time');
  return [...new Map(claims.map((claim) => [claim.deviceId, claim])).values()];
}

/** The outcomes in parts that a store takes at once; of several of one message and device the last. */
export function outcomeParts(outcomes: readonly Outcome[], partMax: number): Outcome[][] {
  const last = [
    ...new Map(
      outcomes.map((outcome) => [`${outcome.messageId.length} ${outcome.messageId}${outcome.deviceId}`, outcome]),
    ).values(),
  ];
  return Array.from({ length: Math.ceil(last.length / partMax) }, (_, part) =>
    last.slice(part * partMax, (part + 1) * partMax),
  );
}

export function checkDeviceIds(deviceIds: readonly string[] | undefined): void {
  if ((deviceIds?.length ?? 0) > deliveryLimits.deviceIds)
    throw new RangeError(`at most ${deliveryLimits.deviceIds} devices at once`);
}
