import { isPositionId, nilId } from './resolve-position.ts';

export interface TopicPlace {
  readonly topicId: string;
  readonly name: string;
  /** The last received message; the nil UUID before the first of the topic. */
  readonly id: string;
}

const idStart = 'id: ';
const idLength = nilId.length;

/**
 * The position of a stream of several topics: `topic1:id1,topic2:id2`, in the order of the stream, with current names.
 * Stored as the bytes of an event's `id:` line: each delivery overwrites the ID that changed.
 */
export class CompositePosition {
  readonly #topics: TopicPlace[];
  readonly #at = new Map<string, number>();
  #line: Buffer = Buffer.alloc(0);

  constructor(topics: readonly TopicPlace[]) {
    this.#topics = [...topics];
    this.#build();
  }

  /** The line with its terminator. The next `move` overwrites it: copy it before. */
  get line(): Buffer {
    return this.#line;
  }

  /** The value of the line. */
  get id(): string {
    return this.#line.toString('latin1', idStart.length, this.#line.length - 1);
  }

  move(topicId: string, messageId: string): void {
    this.#line.write(messageId, this.#at.get(topicId)!, 'latin1');
  }

  rename(topicId: string, name: string): void {
    const index = this.#topics.findIndex((topic) => topic.topicId === topicId);
    if (this.#topics[index]!.name === name) return;
    const ids = this.#topics.map(({ topicId: each }) => this.#idOf(each));
    for (const [at, topic] of this.#topics.entries())
      this.#topics[at] = { ...topic, id: ids[at]!, name: at === index ? name : topic.name };
    this.#build();
  }

  #idOf(topicId: string): string {
    const at = this.#at.get(topicId)!;
    return this.#line.toString('latin1', at, at + idLength);
  }

  #build(): void {
    let line = idStart;
    for (const { topicId, name, id } of this.#topics) {
      line += `${name}:`;
      this.#at.set(topicId, line.length);
      line += `${id},`;
    }
    this.#line = Buffer.from(`${line.slice(0, -1)}\n`, 'latin1');
  }
}

/** Parses a position to IDs by lower-case topic names. Null if it is malformed or names a topic twice. */
export function parseCompositePosition(text: string): ReadonlyMap<string, string> | null {
  const ids = new Map<string, string>();
  for (const part of text.split(',')) {
    const [name = '', id = '', ...rest] = part.trim().split(':');
    const key = name.toLowerCase();
    if (key === '' || rest.length > 0 || !isPositionId(id) || ids.has(key)) return null;
    ids.set(key, id.toLowerCase());
  }
  return ids;
}
