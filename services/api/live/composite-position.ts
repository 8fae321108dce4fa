import { isPositionId, nilId } from './resolve-position.ts';

export interface TopicPlace {
  readonly topicId: string;
  readonly name: string;
  /** The last received message; the nil UUID before the first of the topic. */
  readonly id: string;
}

const idLength = nilId.length;

/**
 * The position of a stream of several topics: `topic1:id1,topic2:id2`, in the order of the stream, with current names.
 * Stored as bytes: each delivery overwrites the ID that changed.
 */
export class CompositePosition {
  readonly #places = new Map<string, { name: string; at: number }>();
  #bytes: Buffer = Buffer.alloc(0);

  constructor(topics: readonly TopicPlace[]) {
    for (const { topicId, name } of topics) this.#places.set(topicId, { name, at: 0 });
    this.#build(topics.map(({ id }) => id));
  }

  get id(): string {
    return this.#bytes.toString('latin1');
  }

  move(topicId: string, messageId: string): void {
    this.#bytes.write(messageId, this.#places.get(topicId)!.at, 'latin1');
  }

  rename(topicId: string, name: string): void {
    const place = this.#places.get(topicId)!;
    if (place.name === name) return;
    const ids = [...this.#places.values()].map(({ at }) => this.#bytes.toString('latin1', at, at + idLength));
    place.name = name;
    this.#build(ids);
  }

  #build(ids: readonly string[]): void {
    let text = '';
    for (const [index, place] of [...this.#places.values()].entries()) {
      text += `${place.name}:`;
      place.at = text.length;
      text += `${ids[index]},`;
    }
    this.#bytes = Buffer.from(text.slice(0, -1), 'latin1');
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
