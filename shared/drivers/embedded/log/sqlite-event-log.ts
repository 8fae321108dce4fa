import { unavailable } from '../../../domain/errors.ts';
import type { LogRecord, PlacedRecord } from '../../../domain/messages/log-record.ts';
import type { Logger } from '../../../platform/logger.ts';
import type { ConsumeOptions, Consumption, EventLog, LogHealth, UnreadRecords } from '../../../ports/event-log.ts';
import { ConsumerOffsets } from './consumer-offsets.ts';
import { RecordRing } from './record-ring.ts';
import type { RecordTable } from './record-table.ts';
import type { SqliteFile } from '../sqlite/sqlite-file.ts';
import { runLogMember, type MemberSource } from './sqlite-log-member.ts';

export interface SqliteEventLogOptions {
  /** Must have the `consumer_positions` table; its owner closes it after the log. */
  readonly file: SqliteFile;
  readonly table: RecordTable;
  readonly log: Logger;
}

/**
 * The event log as a table of the SQLite file, with a single partition (0). Only one process may append to a file.
 *
 * A record and its message are one row, written by a group commit and durable when `append` resolves. Groups exist
 * within this process: one member of a group is active, and the next one takes over when it closes. Group offsets are
 * written within a second, and on close.
 */
export function openSqliteEventLog(options: SqliteEventLogOptions): EventLog {
  return new SqliteEventLog(options);
}

/** Rows per read, so that publishes do not wait. A row takes about 5 µs. */
const tableReadMax = 250;

interface Member {
  readonly options: ConsumeOptions;
  readonly abort: AbortController;
  finished: Promise<void> | undefined;
}

class SqliteEventLog implements EventLog, MemberSource {
  readonly partitions = 1;
  readonly #file: SqliteFile;
  readonly #table: RecordTable;
  readonly #log: Logger;
  readonly #offsets: ConsumerOffsets;
  readonly #ring: RecordRing;
  readonly #write: (record: LogRecord) => Promise<PlacedRecord>;
  /** In join order; the first member of each group is active. */
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
    this.#offsets = new ConsumerOffsets(file, log);
    this.#next = this.#end = table.end();
    this.#ring = new RecordRing(this.#next);
    this.#write = file.batched((records: readonly LogRecord[]) => this.#place(records));
  }

  append(partition: number, record: LogRecord, _topicName: string): Promise<number> {
    if (partition !== 0) return Promise.reject(new RangeError(`the embedded log has no partition ${partition}`));
    if (this.#closed) return Promise.reject(unavailable('Log'));
    return this.#write(record).then(this.#onAppendCommitted, this.#onAppendFailed);
  }

  /**
   * Runs inside the transaction, and again if other work caused a rollback: each run assigns new offsets, so that
   * offsets increase in commit order and none is assigned twice. A rollback leaves a gap.
   */
  #place(records: readonly LogRecord[]): PlacedRecord[] {
    const placed = records.map((record) => ({ partition: 0, offset: this.#next++, record }));
    this.#table.applySync(placed);
    return placed;
  }

  /** Called in commit order. */
  readonly #onAppendCommitted = (placed: PlacedRecord): number => {
    this.#end = placed.offset + 1;
    this.#ring.push(placed);
    if (!this.#wakeScheduled && this.#waiting.size > 0) {
      this.#wakeScheduled = true;
      setImmediate(this.#wake); // after the group commit, so that its records form one batch
    }
    return placed.offset;
  };

  readonly #onAppendFailed = (error: unknown): never => {
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
    const member: Member = { options, abort: new AbortController(), finished: undefined };
    const members = this.#groups.get(options.group) ?? [];
    this.#groups.set(options.group, members);
    members.push(member);
    this.#activate(members);
    return Promise.resolve({ close: () => this.#leave(member) });
  }

  #activate(members: Member[]): void {
    const first = members[0];
    if (first === undefined || first.finished !== undefined) return;
    first.finished = runLogMember(this, first.options, { signal: first.abort.signal, log: this.#log });
    first.finished.catch((error: unknown) =>
      this.#log.error({ err: error, group: first.options.group }, 'a consumer of the log stopped'),
    );
  }

  async #leave(member: Member): Promise<void> {
    member.abort.abort();
    try {
      await member.finished;
    } finally {
      await this.#offsets.flush();
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
    return this.#offsets.get(group);
  }

  commit(group: string, offset: number): void {
    this.#offsets.set(group, offset);
  }

  isEnd(offset: number): boolean {
    return offset >= this.#end;
  }

  end(_partition: number): Promise<number> {
    return Promise.resolve(this.#end);
  }

  lag(group: string): Promise<number> {
    return Promise.resolve(Math.max(0, this.#end - this.#offsets.get(group)));
  }

  /** A log and its consumers are one file: nothing is removed before it was read. */
  unread(): UnreadRecords {
    return { haltedPartitions: 0, lost: 0 };
  }

  removedMembers(): number {
    return 0;
  }

  ping(): Promise<LogHealth> {
    try {
      this.#file.db.exec('SELECT 1');
      return Promise.resolve({ unavailablePartitions: 0 });
    } catch (error) {
      return Promise.reject(unavailable('Log', error));
    }
  }

  async close(): Promise<void> {
    this.#closed = true;
    const members = [...this.#groups.values()].flat();
    await Promise.all(members.map((member) => this.#leave(member)));
    await this.#offsets.flush();
  }
}
