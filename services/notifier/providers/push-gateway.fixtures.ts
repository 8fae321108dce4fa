import { expect } from '@jest/globals';
import { newMessage } from '@tocsin/shared/testing/builders.ts';
import { pushContent } from '../sending/push-payload.ts';
import type { PushContent, PushGateway, PushRequest } from './push-gateway.ts';

export const push = (pushToken: string, given: Partial<PushRequest> = {}): PushRequest => ({
  pushToken,
  content: {
    title: 'alarms',
    body: 'the pump stopped',
    data: { message_id: 'm-1', topic: 'alarms', topic_id: 't-1', priority: 3, tags: ['pump'] },
  },
  sound: 'default',
  vibrates: true,
  isUrgent: false,
  collapseId: 'm-1',
  expiresAt: Date.now() + 60_000,
  ...given,
});

/** The content for the longest message, cut to fit the gateway's limit. */
export function longestContent({ payloadBytesMax }: PushGateway): PushContent {
  const message = newMessage('t-1', {
    message: '🔔'.repeat(4_000),
    title: '🔔'.repeat(250),
    tags: Array.from({ length: 20 }, () => '🔔'.repeat(64)),
  });
  return pushContent(message, { id: message.topicId, name: 't'.repeat(64) }, { bytesMax: payloadBytesMax });
}

/** Expects that the gateway loses no push that it reports as accepted while the provider ends its connections. */
export async function expectNoLossOnGoAway(
  gateway: PushGateway,
  provider: { readonly pushes: readonly { readonly token: string }[]; goAway(): void },
  newToken: () => string,
): Promise<void> {
  const tokens = Array.from({ length: 600 }, newToken);
  const batches = Array.from({ length: 6 }, (_, n) => tokens.slice(n * 100, n * 100 + 100).map((token) => push(token)));
  const sending = Promise.all(batches.map((batch) => gateway.send(batch)));
  provider.goAway();
  const results = (await sending).flat();
  expect(results.filter(({ kind }) => kind !== 'accepted' && kind !== 'unknown')).toEqual([]);
  const received = new Set(provider.pushes.map(({ token }) => token));
  expect(tokens.filter((token, index) => results[index]!.kind === 'accepted' && !received.has(token))).toEqual([]);
  expect(await gateway.send([push(newToken())])).toEqual([{ kind: 'accepted' }]);
}
