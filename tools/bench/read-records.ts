import { systemClock } from '@tocsin/shared/platform/clock.ts';
import { loadConfig } from '@tocsin/shared/platform/load-config.ts';
import { openLogger } from '@tocsin/shared/platform/logger.ts';
import { openEngine } from '@tocsin/shared/open-engine.ts';

/** What is asked of it, as JSON in its first argument; the stores' configuration is its environment. */
export interface RecordsLoad {
  readonly topicId: string;
  /** How often all of it is read. */
  readonly passes: number;
}

/** What it prints: the passes together, of which the first reads a cold store. */
export interface RecordsResult {
  readonly read: number;
  readonly seconds: number;
  /** Of this process, per message: the driver, and embedded the store itself. */
  readonly cpuUs: number;
}

const pageSize = 1_000;

/** Reads a topic's records by the port alone: what the log's route can reach at most. */
async function readRecords({ topicId, passes }: RecordsLoad): Promise<RecordsResult> {
  const engine = await openEngine(loadConfig(process.env, '/nonexistent'), {
    clock: systemClock,
    log: openLogger('bench', 'silent'),
  });
  try {
    const before = process.cpuUsage();
    const began = performance.now();
    let read = 0;
    for (let pass = 0; pass < passes; pass += 1) {
      for (let from = 0, isEnd = false; !isEnd;) {
        const page = await engine.messages.records(topicId, {
          from,
          upTo: Number.MAX_SAFE_INTEGER,
          limit: pageSize,
          now: Date.now(),
        });
        read += page.length;
        isEnd = page.length < pageSize;
        from = (page.at(-1)?.offset ?? from) + 1;
      }
    }
    const cpu = process.cpuUsage(before);
    return { read, seconds: (performance.now() - began) / 1_000, cpuUs: (cpu.user + cpu.system) / read };
  } finally {
    await engine.close();
  }
}

process.stdout.write(`${JSON.stringify(await readRecords(JSON.parse(process.argv[2]!) as RecordsLoad))}\n`);
process.exit();
