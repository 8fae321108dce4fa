import type { ApiKey, TopicToken } from '@tocsin/shared/domain/accounts/credentials.ts';
import type { Logger } from '@tocsin/shared/platform/logger.ts';
import type { Documents } from '@tocsin/shared/ports/documents.ts';
import { conditionalBuffer } from '@tocsin/shared/async/conditional-buffer.ts';
import { apiKeys, topicTokens } from '@tocsin/shared/collections/credentials.ts';

/** Requests with one credential since the last write. */
interface Usage {
  readonly requests: number;
  /** Unix time in milliseconds. */
  readonly lastAt: number;
}

/** The maximum age of other nodes' usage in a list. */
const everyMs = 5_000;

/**
 * Records the use of keys and topic tokens. Usage is written every 5 s and before a list shows it; a crash loses the
 * latest.
 */
export interface UsageRecorder {
  apiKeyUsed(id: string, now: number): void;
  topicTokenUsed(id: string, now: number): void;
  /** Returns the keys that `find` reads with this node's latest usage. */
  readApiKeys(find: () => Promise<ApiKey[]>): Promise<ApiKey[]>;
  /** The same for topic tokens. */
  readTopicTokens(find: () => Promise<TopicToken[]>): Promise<TopicToken[]>;
  close(): Promise<void>;
}

export function usageRecorder({ documents, log }: { documents: Documents; log: Logger }): UsageRecorder {
  const common = {
    documents,
    everyMs,
    merge: (a: Usage, b: Usage): Usage => ({ requests: a.requests + b.requests, lastAt: Math.max(a.lastAt, b.lastAt) }),
    onLoss: (error: unknown) => log.warn({ err: error }, 'could not record the use of credentials'),
  };
  const keys = conditionalBuffer<ApiKey, Usage>({
    ...common,
    collection: apiKeys,
    change: (key, usage) => ({
      requestCount: key.requestCount + usage.requests,
      lastUsedAt: later(key.lastUsedAt, usage.lastAt),
    }),
  });
  const tokens = conditionalBuffer<TopicToken, Usage>({
    ...common,
    collection: topicTokens,
    change: (token, usage) => ({ lastUsedAt: later(token.lastUsedAt, usage.lastAt) }),
  });
  return {
    apiKeyUsed: (id, now) => keys.add(id, { requests: 1, lastAt: now }),
    topicTokenUsed: (id, now) => tokens.add(id, { requests: 1, lastAt: now }),
    readApiKeys: (find) => keys.readWithPending(find),
    readTopicTokens: (find) => tokens.readWithPending(find),
    async close() {
      await Promise.all([keys.close(), tokens.close()]);
    },
  };
}

const later = (known: number | null, time: number): number => Math.max(known ?? 0, time);
