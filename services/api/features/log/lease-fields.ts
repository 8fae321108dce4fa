import type { IncomingMessage } from 'node:http';
import { AppError } from '@tocsin/shared/domain/errors.ts';
import type { LogConsumer } from '@tocsin/shared/domain/log/log-consumer.ts';
import { hashSecret } from '@tocsin/shared/platform/secrets.ts';
import { z } from 'zod';

/** The documentation of the header. */
export const leaseHeaders = z.object({
  'X-Lease': z.string().optional().describe('The lease of the consumer.'),
});

/** Returns the lease of the request, undefined without one. */
export function givenLease({ headers }: Pick<IncomingMessage, 'headers'>): string | undefined {
  const lease = headers['x-lease'];
  return typeof lease === 'string' && lease !== '' ? lease : undefined;
}

/** Whether the lease is the last one that the consumer was given. It stays so after its expiry, until another is. */
export function holdsLease(consumer: Pick<LogConsumer, 'leaseHash'>, lease: string | undefined): boolean {
  return lease !== undefined && consumer.leaseHash === hashSecret(lease);
}

export const leaseLost = () => new AppError('conflict', 'Lease was lost');

/** Throws 409 if the request has a lease that the consumer does not have any more. */
export function requireLease(consumer: Pick<LogConsumer, 'leaseHash'>, lease: string | undefined): void {
  if (lease !== undefined && !holdsLease(consumer, lease)) throw leaseLost();
}
