import fc from 'fast-check';
import { foldCase } from '@tocsin/shared/domain/fold-case.ts';

/** A message as responses show it. */
export interface Shown {
  readonly id: string;
  readonly message: string;
  readonly title: string | null;
  readonly tags: readonly string[];
  readonly priority: number;
  readonly timestamp: string;
  readonly offset: number;
  readonly is_deleted: boolean;
}

export interface ShownRecord {
  readonly type: 'message' | 'message_edited' | 'message_deleted';
  readonly timestamp: string;
  readonly message: Shown;
}

const text = fc
  .array(fc.constantFrom('a', 'B', 'ß', 'É', ' ', '%', '_', '\\', '"', '\n', '🔔'), { minLength: 1, maxLength: 6 })
  .map((parts) => parts.join(''));
const title = fc.option(fc.constantFrom('Door', 'door open', 'Straße'), { nil: null });
const tags = fc.uniqueArray(fc.constantFrom('x', 'y', 'X', 'ü'), { maxLength: 3 });

/** An operation on a topic; `target` selects one of the messages so far. */
export const act = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constant('publish' as const),
      text,
      title,
      tags,
      priority: fc.integer({ min: 1, max: 5 }),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('edit' as const),
      target: fc.nat(),
      text,
      title: fc.option(title, { nil: undefined }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('delete' as const), target: fc.nat() }) },
);
export type Act = typeof act extends fc.Arbitrary<infer T> ? T : never;

/** A filter of a caller; `from` and `to` select the times of messages. */
export interface Filter {
  readonly q?: string | undefined;
  readonly tags?: readonly string[] | undefined;
  readonly priorities?: readonly [number, number] | undefined;
  readonly from?: number | undefined;
  readonly to?: number | undefined;
}

export const filter: fc.Arbitrary<Filter> = fc.record({
  q: fc.option(fc.constantFrom('a', 'b', 'ss', 'é', 'DOOR', '%', '_', '\\', '🔔'), { nil: undefined }),
  tags: fc.option(fc.uniqueArray(fc.constantFrom('x', 'y', 'ü', 'none'), { minLength: 1, maxLength: 2 }), {
    nil: undefined,
  }),
  priorities: fc.option(
    fc
      .tuple(fc.integer({ min: 1, max: 5 }), fc.integer({ min: 1, max: 5 }))
      .map(([a, b]) => [Math.min(a, b), Math.max(a, b)] as const),
    { nil: undefined },
  ),
  from: fc.option(fc.nat(), { nil: undefined }),
  to: fc.option(fc.nat(), { nil: undefined }),
});
/** The expected state of one topic after its operations, computed in the simplest way. */
export class HistoryModel {
  /** All messages in their current form, including the content of deleted ones; oldest first. */
  readonly all: Shown[] = [];
  readonly #log: { type: ShownRecord['type']; id: string; timestamp: string }[] = [];

  published(message: Shown): void {
    this.all.push(message);
    this.#log.push({ type: 'message', id: message.id, timestamp: message.timestamp });
  }

  edited(id: string, changes: Pick<Shown, 'message' | 'title'> & { readonly edited_at: string }): void {
    this.#change(id, { ...changes, is_edited: true });
    this.#log.push({ type: 'message_edited', id, timestamp: changes.edited_at });
  }

  deleted(id: string, deleted_at: string): void {
    this.#change(id, { is_deleted: true, deleted_at });
    this.#log.push({ type: 'message_deleted', id, timestamp: deleted_at });
  }

  /** The messages that readers see, oldest first. */
  history(): Shown[] {
    return this.all.filter(({ is_deleted }) => !is_deleted);
  }

  /** The log: every record with its current message, redacted if deleted. */
  records(): ShownRecord[] {
    const empty = { message: '', title: null, tags: [] };
    return this.#log.map(({ type, id, timestamp }) => {
      const message = this.all.find((one) => one.id === id)!;
      return { type, timestamp, message: message.is_deleted ? { ...message, ...empty } : message };
    });
  }

  /** Newest first. */
  matching(asked: Filter, includesDeleted: boolean): Shown[] {
    const { q, priorities: [low, high] = [1, 5] as const } = asked;
    const { from = '', to = '9999' } = this.range(asked);
    return (includesDeleted ? this.all : this.history())
      .filter(
        (one) =>
          (q === undefined || [one.message, one.title ?? ''].some((part) => foldCase(part).includes(foldCase(q)))) &&
          (asked.tags === undefined || one.tags.some((tag) => asked.tags!.includes(tag))) &&
          one.priority >= low &&
          one.priority <= high &&
          one.timestamp >= from &&
          one.timestamp <= to,
      )
      .toReversed();
  }

  /** The times that the filter selects, the earlier one first. */
  range({ from, to }: Filter): { from?: string; to?: string } {
    const [first, second] = [from, to].map((pick) =>
      pick === undefined ? undefined : this.all[pick % this.all.length]?.timestamp,
    );
    const isReversed = first !== undefined && second !== undefined && first > second;
    const [start, end] = isReversed ? [second, first] : [first, second];
    return { ...(start === undefined ? {} : { from: start }), ...(end === undefined ? {} : { to: end }) };
  }

  #change(id: string, changes: object): void {
    const index = this.all.findIndex((one) => one.id === id);
    this.all[index] = { ...this.all[index]!, ...changes };
  }
}
