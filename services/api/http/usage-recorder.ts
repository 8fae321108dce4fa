import type { ApiKey, TopicToken } from '@tocsin/shared/domain/credentials.ts';
import type { Log } from '@tocsin/shared/platform/log.ts';
import type { Documents } from '@tocsin/shared/ports/documents.ts';
import { coalescedUpdates } from '@tocsin/shared/stores/coalesced-updates.ts';
import { apiKeys, topicTokens } from '@tocsin/shared/stores/credentials.ts';

/** Requests by one credential since the last write. */
interface Usage {
  readonly requests: number;
  /** Milliseconds since the epoch. */
  readonly lastAt: number;
}

/** How old the figures that lists show may be. */
const everyMs = 5_000;

/** Notes which keys and topic tokens are used. The figures are written every 5 s; a crash loses the last of them. */
export interface UsageRecorder {
  apiKeyUsed(id: string, now: number): void;
  topicTokenUsed(id: string, now: number): void;
  close(): Promise<void>;
}

export function usageRecorder({ documents, log }: { documents: Documents; log: Log }): UsageRecorder {
  const common = {
    documents, everyMs,
    merge: (a: Usage, b: Usage): Usage => ({ requests: a.requests + b.requests, lastAt: Math.max(a.lastAt, b.lastAt) }),
    onLoss: (error: unknown) => log.warn({ err: error }, 'the use of credentials was not noted'),
  };
  const keys = coalescedUpdates<ApiKey, Usage>({
    ...common,
    collection: apiKeys,
    change: (key, usage) => ({ requestCount: key.requestCount + usage.requests, lastUsedAt: later(key.lastUsedAt, usage.lastAt) }),
  });
  const tokens = coalescedUpdates<TopicToken, Usage>({
    ...common,
    collection: topicTokens,
    change: (token, usage) => ({ lastUsedAt: later(token.lastUsedAt, usage.lastAt) }),
  });
  return {
    apiKeyUsed: (id, now) => keys.add(id, { requests: 1, lastAt: now }),
    topicTokenUsed: (id, now) => tokens.add(id, { requests: 1, lastAt: now }),
    async close() {
      await Promise.all([keys.close(), tokens.close()]);
    },
  };
}

const later = (known: number | null, time: number): number => Math.max(known ?? 0, time);
