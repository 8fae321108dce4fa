/** One line of input that a publisher sends to a topic. */
export interface Line {
  readonly publisher: string;
  /** Sequence number of the line within its publisher. */
  readonly n: number;
  readonly topic: string;
  readonly text: string;
  readonly priority: number;
}

/** A line that was acknowledged with 200. */
export interface Acked {
  readonly line: Line;
  readonly id: string;
  readonly offset: number;
  /** How often it was sent, including the acknowledged send. */
  readonly attempts: number;
}

/** A message as a reader received it. */
export interface Seen {
  readonly topic: string;
  readonly id: string;
  readonly offset: number;
  readonly text: string;
}

/** All messages that one reader received, in order. */
export interface ReaderLog {
  readonly name: string;
  /** The topics that it read from the beginning. */
  readonly topics: readonly string[];
  readonly seen: readonly Seen[];
  /** The number of connections. */
  readonly connections: number;
  /** Raw readers of the broker may receive an ID twice, which is counted but allowed. */
  readonly mayRepeat: boolean;
}

export interface Verdict {
  /** Acknowledged lines that the reader did not receive. */
  readonly lost: number;
  /** Messages that it received again. */
  readonly repeated: number;
  /** Messages that were never sent. */
  readonly phantom: number;
  /** Messages whose text or topic differs from the sent one. */
  readonly changed: number;
  /** Messages that arrived after one with a higher offset in their topic. */
  readonly inverted: number;
  /** Messages that arrived before an earlier line of the same publisher in the same topic. */
  readonly outOfPublishersOrder: number;
}

/**
 * Compares the messages of a reader with the attempted and acknowledged lines. Pure: the same logs give the same
 * verdict. `attempted` are all lines that were sent; a reader may or may not receive a line with unknown outcome.
 */
export function verifyReader(reader: ReaderLog, attempted: readonly Line[], acked: readonly Acked[]): Verdict {
  const attemptedTexts = new Set(attempted.map((line) => textKey(line.topic, line.text)));
  const ackedById = new Map(acked.filter(({ line }) => reader.topics.includes(line.topic)).map((one) => [one.id, one]));
  const seenIds = new Set<string>();
  const lastOffset = new Map<string, number>();
  const lastN = new Map<string, number>();
  const counts = { repeated: 0, phantom: 0, changed: 0, inverted: 0, outOfPublishersOrder: 0 };
  for (const message of reader.seen) {
    if (seenIds.has(message.id)) {
      counts.repeated += 1;
      continue;
    }
    seenIds.add(message.id);
    const line = ackedById.get(message.id)?.line;
    if (line !== undefined && (line.text !== message.text || line.topic !== message.topic)) counts.changed += 1;
    else if (!attemptedTexts.has(textKey(message.topic, message.text))) counts.phantom += 1;
    if (message.offset <= (lastOffset.get(message.topic) ?? -1)) counts.inverted += 1;
    lastOffset.set(message.topic, Math.max(message.offset, lastOffset.get(message.topic) ?? -1));
    if (line === undefined) continue;
    const publishersTopic = `${line.publisher} ${line.topic}`;
    if (line.n <= (lastN.get(publishersTopic) ?? -1)) counts.outOfPublishersOrder += 1;
    lastN.set(publishersTopic, line.n);
  }
  const lost = [...ackedById.keys()].filter((id) => !seenIds.has(id)).length;
  return { lost, ...counts };
}

const textKey = (topic: string, text: string): string => `${topic}\n${text}`;

/** Whether the verdict violates a guarantee. */
export function isBroken(verdict: Verdict, reader: Pick<ReaderLog, 'mayRepeat'>): boolean {
  const { repeated, ...others } = verdict;
  return Object.values(others).some((count) => count > 0) || (repeated > 0 && !reader.mayRepeat);
}

/** Whether acknowledgements repeat an ID or an offset of a topic. */
export function sharedPlaces(acked: readonly Acked[]): number {
  const ids = new Set(acked.map(({ id }) => id));
  const places = new Set(acked.map(({ line, offset }) => `${line.topic} ${offset}`));
  return acked.length - Math.min(ids.size, places.size);
}
