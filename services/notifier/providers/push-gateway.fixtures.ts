import { expect } from '@jest/globals';
import { newMessage } from '@tocsin/shared/testing/builders.ts';
import { pushContent } from '../sending/push-payload.ts';
import type { MessageData, PushContent, PushGateway, PushRequest } from './push-gateway.ts';

export const messageData: MessageData = {
  topic: 'alarms',
  message_id: 'm-1',
  offset: 12,
  priority: 3,
  click: null,
  actions: [{ action: 'view', label: 'Open', url: 'https://pumps.example.com/1', clear: false }],
  requires_ack: false,
  sent_at: '2026-11-25T12:00:00.000Z',
  topic_id: 't-1',
  tags: ['pump'],
};

export const push = (pushToken: string, given: Partial<PushRequest> = {}): PushRequest => ({
  pushToken,
  content: {
    title: 'alarms',
    body: 'the pump stopped',
    category: null,
    data: messageData,
  },
  level: 'default',
  sound: 'default',
  vibrates: true,
  badge: null,
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
    click: `https://example.com/${'x'.repeat(2_000)}`,
    requiresAck: true,
  });
  return pushContent(
    { ...message, offset: Number.MAX_SAFE_INTEGER },
    { id: message.topicId, name: 't'.repeat(64) },
    { bytesMax: payloadBytesMax, now: Date.now() },
  );
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
