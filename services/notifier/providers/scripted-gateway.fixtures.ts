import type { PushGateway, PushResult } from './push-gateway.ts';

/** Returns the scripted results per token, then `accepted`. */
export function scriptedGateway(
  scripts: Record<string, PushResult[]>,
): PushGateway & { readonly sent: { token: string; time: number }[] } {
  const sent: { token: string; time: number }[] = [];
  return {
    sent,
    batchSizeMax: 100,
    payloadBytesMax: 4_096,
    send: (batch) =>
      Promise.resolve(
        batch.map(({ pushToken: token }) => {
          sent.push({ token, time: Date.now() });
          return scripts[token]?.shift() ?? { kind: 'accepted' };
        }),
      ),
    close: () => Promise.resolve(),
  };
}
