import { randomUUID } from 'node:crypto';
import type { Beat } from '@tocsin/shared/domain/messages/fanout-beats.ts';

/** The state of the partitions that this process fans out, for its beats. */
export class PartitionBeats {
  readonly #beats = new Map<number, Beat>();

  /** The process starts on a partition at this offset; the signal is aborted when it loses the partition. */
  assigned(partition: number, startOffset: number, signal: AbortSignal): void {
    if (signal.aborted) return;
    const beat = { partition, offset: startOffset - 1, assignment: randomUUID(), missed: startOffset - 1 };
    this.#beats.set(partition, beat);
    signal.addEventListener(
      'abort',
      () => {
        if (this.#beats.get(partition)?.assignment === beat.assignment) this.#beats.delete(partition);
      },
      { once: true },
    );
  }

  /** Everything up to the offset is in history. */
  delivered(partition: number, offset: number): void {
    this.#change(partition, (beat) => ({ ...beat, offset: Math.max(beat.offset, offset) }));
  }

  /** Records up to the offset possibly did not reach the bus. */
  missed(partition: number, offset: number): void {
    this.#change(partition, (beat) => ({ ...beat, missed: Math.max(beat.missed, offset) }));
  }

  get all(): Beat[] {
    return [...this.#beats.values()];
  }

  #change(partition: number, change: (beat: Beat) => Beat): void {
    const beat = this.#beats.get(partition);
    if (beat !== undefined) this.#beats.set(partition, change(beat));
  }
}
