import type { Message } from '../../api/wire.ts';

/** Messages in memory and on the page. Scrolling to older ones drops the newest, which can be loaded again. */
const keptMax = 400;

/** A bounded part of a topic, newest first: usually its newest messages, or older ones after scrolling. */
export class FeedWindow {
  hasOlder: boolean;
  /** Messages newer than the window that arrived while it showed older ones. */
  waiting = 0;
  readonly fresh = new Set<string>();
  #messages: readonly Message[];
  #isAtNewest = true;
  readonly #hidden = new Set<string>();

  /** `newest` are the newest messages, oldest first. */
  constructor(newest: readonly Message[], hasOlder: boolean) {
    this.#messages = newest.toReversed();
    this.hasOlder = hasOlder;
  }

  shown(): readonly Message[] {
    return this.#messages.filter(({ id }) => !this.#hidden.has(id));
  }

  restart(newest: readonly Message[], hasOlder: boolean): void {
    this.#messages = newest.toReversed();
    this.hasOlder = hasOlder;
    this.#isAtNewest = true;
    this.waiting = 0;
  }

  /** Adds a live message. Returns false for one that is known. `isAtTop`: the reader sees the newest messages. */
  add(message: Message, isAtTop: boolean): boolean {
    if (this.#messages.some(({ id }) => id === message.id)) return false;
    if (this.#messages.length >= keptMax && !isAtTop) this.#isAtNewest = false;
    if (!this.#isAtNewest) {
      this.waiting++;
      return true;
    }
    this.fresh.add(message.id);
    this.hasOlder ||= this.#messages.length >= keptMax;
    this.#messages = [message, ...this.#messages].slice(0, keptMax);
    return true;
  }

  /** Query parameters of the page of messages before the oldest one, which may share its timestamp. */
  olderQuery(): string {
    const oldest = this.#messages.at(-1);
    if (oldest === undefined) return 'offset=0';
    const same = this.#messages.filter(({ timestamp }) => timestamp === oldest.timestamp).length;
    return `date_to=${encodeURIComponent(oldest.timestamp)}&offset=${same}`;
  }

  /** Adds older messages, newest first. */
  addOlder(older: readonly Message[], hasOlder: boolean): void {
    const known = new Set(this.#messages.map(({ id }) => id));
    const all = [...this.#messages, ...older.filter(({ id }) => !known.has(id))];
    if (all.length > keptMax) this.#isAtNewest = false;
    this.#messages = all.slice(-keptMax);
    this.hasOlder = hasOlder;
  }

  replace(message: Message): void {
    this.#messages = this.#messages.map((one) => (one.id === message.id ? message : one));
  }

  change(id: string, part: Partial<Message>): void {
    this.#messages = this.#messages.map((one) => (one.id === id ? { ...one, ...part } : one));
  }

  remove(removedId: string): void {
    this.#messages = this.#messages.filter(({ id }) => id !== removedId);
    this.fresh.delete(removedId);
  }

  setHidden(id: string, isHidden: boolean): void {
    if (isHidden) this.#hidden.add(id);
    else this.#hidden.delete(id);
  }

  /** Applies edits and deletions that the stream missed. `newest` are the newest messages, oldest first. */
  compare(newest: readonly Message[]): void {
    const [oldest, latest] = [newest[0], newest.at(-1)];
    if (oldest === undefined || latest === undefined) return;
    const byId = new Map(newest.map((message) => [message.id, message]));
    this.#messages = this.#messages
      .filter(({ id, offset }) => offset < oldest.offset || offset > latest.offset || byId.has(id))
      .map((message) => byId.get(message.id) ?? message);
  }
}
