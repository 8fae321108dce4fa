import { unavailable } from '../../../domain/errors.ts';
import type { LogRecord, PlacedRecord } from '../../../domain/messages/log-record.ts';
import type { Logger } from '../../../platform/logger.ts';
import type { ConsumeOptions, Consumption, EventLog } from '../../../ports/event-log.ts';
import { ConsumerPositions } from './consumer-positions.ts';
import { RecordRing } from './record-ring.ts';
import type { RecordTable } from './record-table.ts';
import type { SqliteFile } from '../sqlite/sqlite-file.ts';
import { runLogMember, type MemberSource } from './sqlite-log-member.ts';

export interface SqliteEventLogOptions {
  /** Has the `consumer_positions` table, and is closed by its owner after the log. */
  readonly file: SqliteFile;
  readonly table: RecordTable;
  readonly log: Logger;
}

/**
 * The event log as a table of the SQLite file, with one partition (0). One process appends to a file at a time.
 *
 * A record and its message are one row in one transaction, shared with whatever else is in the group commit, and
 * durable when `append` resolves. Groups live in this process: one member of a group is active, the next takes over
 * when it closes. Positions of groups are on disk within a second, and at close.
 */
export function openSqliteEventLog(options: SqliteEventLogOptions): EventLog {
  return new SqliteEventLog(options);
}

/** Harm prevented: publishes wait while rows are read back, about 5 µs each. */
const tableReadMax = 250;

interface Member {
  readonly options: ConsumeOptions;
  readonly abort: AbortController;
  done: Promise<void> | undefined;
}

class SqliteEventLog implements EventLog, MemberSource {
  readonly partitions = 1;
  readonly #file: SqliteFile;
  readonly #table: RecordTable;
  readonly #log: Logger;
  readonly #positions: ConsumerPositions;
  readonly #ring: RecordRing;
  readonly #write: (record: LogRecord) => Promise<PlacedRecord>;
  /** In order of joining; the first of each group is the active one. */
  readonly #groups = new Map<string, Member[]>();
  readonly #waiting = new Set<() => void>();
  #next: number;
  #end: number;
  #wakeScheduled = false;
  #closed = false;

  constructor({ file, table, log }: SqliteEventLogOptions) {
    this.#file = file;
    this.#table = table;
    this.#log = log;
    this.#positions = new ConsumerPositions(file, log);
    this.#next = this.#end = table.end();
    this.#ring = new RecordRing(this.#next);
    this.#write = file.grouped((records: readonly LogRecord[]) => this.#place(records));
  }

  append(partition: number, record: LogRecord, _topicName: string): Promise<number> {
    if (partition !== 0) return Promise.reject(new RangeError(`the embedded log has no partition ${partition}`));
    if (this.#closed) return Promise.reject(unavailable('Log'));
    return this.#write(record).then(this.#committed, this.#refused);
  }

  /**
   * Runs inside the transaction, and once more when another's work made the group roll back: each run takes new
   * positions, so that positions grow in the order of commits and none is given out twice. What was rolled back is a hole.
   */
  #place(records: readonly LogRecord[]): PlacedRecord[] {
    const placed = records.map((record) => ({ partition: 0, offset: this.#next++, record }));
    this.#table.applySync(placed);
    return placed;
  }

  /** Called in the order of commits. */
  readonly #committed = (placed: PlacedRecord): number => {
    this.#end = placed.offset + 1;
    this.#ring.push(placed);
    if (!this.#wakeScheduled && this.#waiting.size > 0) {
      this.#wakeScheduled = true;
      setImmediate(this.#wake); // after the whole group commit, so that its records are one batch
    }
    return placed.offset;
  };

  readonly #refused = (error: unknown): never => {
    this.#log.error({ err: error }, 'a record was not appended');
    throw unavailable('Log', error);
  };

  readonly #wake = (): void => {
    this.#wakeScheduled = false;
    const waiting = [...this.#waiting];
    this.#waiting.clear();
    for (const resume of waiting) resume();
  };

  consume(options: ConsumeOptions): Promise<Consumption> {
    if (this.#closed) return Promise.reject(unavailable('Log'));
    const member: Member = { options, abort: new AbortController(), done: undefined };
    const members = this.#groups.get(options.group) ?? [];
    this.#groups.set(options.group, members);
    members.push(member);
    this.#activate(members);
    return Promise.resolve({ close: () => this.#leave(member) });
  }

  #activate(members: Member[]): void {
    const first = members[0];
    if (first === undefined || first.done !== undefined) return;
    first.done = runLogMember(this, first.options, { signal: first.abort.signal, log: this.#log });
    first.done.catch((error: unknown) =>
      this.#log.error({ err: error, group: first.options.group }, 'a consumer of the log ended'),
    );
  }

  async #leave(member: Member): Promise<void> {
    member.abort.abort();
    try {
      await member.done;
    } finally {
      await this.#positions.flush();
      const members = this.#groups.get(member.options.group) ?? [];
      const index = members.indexOf(member);
      if (index >= 0) members.splice(index, 1);
      this.#activate(members);
    }
  }

  read(offset: number, limit: number): { records: PlacedRecord[]; nextOffset: number } {
    const floor = this.#ring.floor;
    const records =
      offset >= floor ? this.#ring.from(offset, limit) : this.#table.readFrom(offset, Math.min(limit, tableReadMax));
    const last = records.at(-1);
    return { records, nextOffset: last === undefined ? Math.max(offset, floor) : last.offset + 1 };
  }

  appended(signal: AbortSignal): Promise<void> {
    if (signal.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      const resume = () => {
        this.#waiting.delete(resume);
        signal.removeEventListener('abort', resume);
        resolve();
      };
      signal.addEventListener('abort', resume);
      this.#waiting.add(resume);
    });
  }

  committed(group: string): number {
    return this.#positions.get(group);
  }

  commit(group: string, offset: number): void {
    this.#positions.set(group, offset);
  }

  end(_partition: number): Promise<number> {
    return Promise.resolve(this.#end);
  }

  lag(group: string): Promise<number> {
    return Promise.resolve(Math.max(0, this.#end - this.#positions.get(group)));
  }

  ping(): Promise<void> {
    try {
      this.#file.db.exec('SELECT 1');
      return Promise.resolve();
    } catch (error) {
      return Promise.reject(unavailable('Log', error));
    }
  }

  async close(): Promise<void> {
    this.#closed = true;
    const members = [...this.#groups.values()].flat();
    await Promise.all(members.map((member) => this.#leave(member)));
    await this.#positions.flush();
  }
}
