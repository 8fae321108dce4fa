import { setTimeout as pause } from 'node:timers/promises';
import type { Acked, Line } from './ledger.ts';
import { request } from './request.ts';

export interface PublishOptions {
  readonly urls: readonly string[];
  readonly publishers: number;
  /** Called after each acknowledgement with their number. */
  readonly onAcked?: (count: number) => void;
  /** A line that is not acknowledged within this time fails the test. */
  readonly lineMsMax?: number;
}

/**
 * Publishes the lines with concurrent publishers, each of which sends its lines sequentially. Lines without response or
 * with 409, 429 or 5xx are retried with their Idempotency-Key on the next node. Resolves with the acknowledgements of
 * all lines.
 */
export async function publishLines(lines: readonly Line[], options: PublishOptions): Promise<Acked[]> {
  const acked: Acked[] = [];
  const byPublisher = Map.groupBy(lines, ({ publisher }) => publisher);
  await Promise.all(
    [...byPublisher.values()].map(async (own, index) => {
      for (const line of own) {
        acked.push(await publishOne(line, options, index));
        options.onAcked?.(acked.length);
      }
    }),
  );
  return acked;
}

async function publishOne(line: Line, options: PublishOptions, firstNode: number): Promise<Acked> {
  const deadline = performance.now() + (options.lineMsMax ?? 60_000);
  for (let attempts = 1; performance.now() < deadline; attempts += 1) {
    const url = options.urls[(firstNode + attempts) % options.urls.length]!;
    const answer = await send(url, line);
    if (answer?.status === 200) return { line, id: answer.body.id, offset: answer.body.offset, attempts };
    if (answer !== null && answer.status !== 409 && answer.status !== 429 && answer.status < 500) {
      throw new Error(
        `line ${line.n} of ${line.publisher} was refused: ${answer.status} ${JSON.stringify(answer.body)}`,
      );
    }
    await pause(Math.min(50 * attempts, 500));
  }
  throw new Error(`line ${line.n} of ${line.publisher} was never acknowledged`);
}

/** Null if there was no response: the outcome is unknown. */
async function send(url: string, line: Line): Promise<{ status: number; body: { id: string; offset: number } } | null> {
  try {
    const { status, text } = await request(`${url}/${line.topic}`, {
      method: 'POST',
      body: line.text,
      timeoutMs: 15_000,
      headers: {
        'Content-Type': 'text/plain;charset=UTF-8',
        'Idempotency-Key': `${line.publisher}-${line.n}`,
        'X-Priority': line.priority,
      },
    });
    return { status, body: JSON.parse(text) as { id: string; offset: number } };
  } catch {
    return null;
  }
}
