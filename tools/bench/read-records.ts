import { systemClock } from '@tocsin/shared/platform/clock.ts';
import { loadConfig } from '@tocsin/shared/platform/load-config.ts';
import { openLogger } from '@tocsin/shared/platform/logger.ts';
import { openEngine } from '@tocsin/shared/open-engine.ts';

/** The program's input, as JSON in its first argument. Its environment configures the stores. */
export interface RecordsLoad {
  readonly topicId: string;
  /** Number of complete reads. */
  readonly passes: number;
}

/** The program's output: all passes combined, the first of which reads a cold store. */
export interface RecordsResult {
  readonly read: number;
  readonly seconds: number;
  /** CPU time of this process per message: the driver and, if embedded, the store. */
  readonly cpuUs: number;
}

const pageSize = 1_000;

/** Reads a topic's records through the port alone: the upper limit for the log's route. */
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
