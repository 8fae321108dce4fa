import { expect } from '@jest/globals';
import type { ClientStream, OpenOptions, StreamsUse } from './use-streams.ts';

/** How long access may last after its end, with a margin for a loaded machine. */
const endsWithinMs = 8_000;

/** Opens each kind of stream: of one and several topics, over both transports, on both nodes. */
const kinds = [
  { open: 'sse', node: 0, path: (topic: string) => `/${topic}/sse?` },
  { open: 'ws', node: 1, path: (topic: string) => `/${topic}/ws?` },
  { open: 'sse', node: 1, path: (_topic: string, others: string) => `/sse?topics=${others}&` },
  { open: 'ws', node: 0, path: (_topic: string, others: string) => `/ws?topics=${others}&` },
] as const;

/** Streams of one topic, of every kind, with their expectations. */
export interface WatchedStreams {
  readonly all: readonly ClientStream[];
  /** Each ends within 5 seconds of the change, and WebSockets with the code. */
  expectEnd(code: number, change: () => Promise<unknown>): Promise<void>;
  /** Each still gets publishes. */
  expectOpen(publish: (text: string) => Promise<unknown>): Promise<void>;
}

/** Opens a stream of every kind on the topic; streams of several topics also include `otherTopics`. */
export async function watchStreams(
  streams: StreamsUse,
  of: { topic: string; otherTopics?: readonly string[]; query?: string } & OpenOptions,
): Promise<WatchedStreams> {
  const { topic, otherTopics = [], query = '', ...options } = of;
  const all = await Promise.all(
    kinds.map(({ open, node, path }) =>
      streams[open](`${path(topic, [...otherTopics, topic].join(','))}${query}`, { ...options, node }),
    ),
  );
  for (const stream of all) {
    expect(stream.body).toBeUndefined();
    await stream.ready();
  }
  return {
    all,
    async expectEnd(code, change) {
      await change();
      const changedAt = performance.now();
      const ends = await Promise.all(all.map(({ ended }) => ended));
      expect(ends.map((end) => end.code)).toEqual(kinds.map(({ open }) => (open === 'ws' ? code : 0)));
      for (const { at } of ends) expect(at - changedAt).toBeLessThan(endsWithinMs);
    },
    async expectOpen(publish) {
      const before = all.map((stream) => stream.ofType('message').length);
      await publish('still open');
      for (const [index, stream] of all.entries())
        expect((await stream.texts(before[index]! + 1)).at(-1)).toBe('still open');
    },
  };
}
