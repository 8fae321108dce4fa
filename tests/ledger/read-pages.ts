import { setTimeout as pause } from 'node:timers/promises';
import { Collected, readerOver, type ReadMessage, type ReadOptions, type Reader } from './reader.ts';
import { request } from './request.ts';

interface Page {
  readonly messages: readonly ReadMessage[];
  /** The start of the next page. */
  readonly cursor: string;
}

const retryMs = 50;
/**
 * Pause between pages, so that a page contains several messages: forty readers that request single messages would
 * dominate the run.
 */
const pageEveryMs = 1_000;

/** Reads `/{topic}/json` from the beginning, paginating by the last ID. */
export function readHistory(options: ReadOptions): Reader {
  return readPages('history', options, 'all', async (url, cursor, signal) => {
    const { messages } = (await getJson(`${url}/${options.topic}/json?since=${cursor}&limit=100&wait=1`, signal)) as {
      messages: ReadMessage[];
    };
    return { messages, cursor: messages.at(-1)?.id ?? cursor };
  });
}

/** Reads `/api/topics/{name}/log` from offset 0, paginating by `next_offset`. */
export function readLog(options: ReadOptions): Reader {
  return readPages('log', options, '0', async (url, cursor, signal) => {
    const page = (await getJson(
      `${url}/api/topics/${options.topic}/log?from_offset=${cursor}&limit=200&wait=1`,
      signal,
    )) as {
      records: { offset: number; message: ReadMessage }[];
      next_offset: number;
    };
    return { messages: page.records.map(({ message }) => message), cursor: String(page.next_offset) };
  });
}

type ReadPage = (url: string, cursor: string, signal: AbortSignal) => Promise<Page>;

function readPages(kind: string, options: ReadOptions, start: string, read: ReadPage): Reader {
  const collected = new Collected(options);
  const abort = new AbortController();
  let cursor = start;
  const done = (async () => {
    for (let node = options.first ?? 0; !abort.signal.aborted;) {
      try {
        const page = await read(options.urls[node % options.urls.length]!, cursor, abort.signal);
        cursor = page.cursor;
        for (const message of page.messages) collected.add(message);
        await pause(pageEveryMs, undefined, { signal: abort.signal });
      } catch {
        // The node is unavailable: continue on the next one from the same cursor.
        node += 1;
        collected.connections += 1;
        await pause(retryMs);
      }
    }
  })();
  return readerOver(collected, {
    name: `${kind} ${options.topic}`,
    topics: [options.topic],
    end: async () => {
      abort.abort();
      await done;
    },
  });
}

async function getJson(url: string, signal: AbortSignal): Promise<unknown> {
  const { status, text } = await request(url, { signal, timeoutMs: 10_000 });
  if (status !== 200) throw new Error(`${status} ${text}`);
  return JSON.parse(text);
}
