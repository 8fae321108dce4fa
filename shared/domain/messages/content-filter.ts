import { foldCase } from '../fold-case.ts';
import type { RecordType } from './log-record.ts';
import type { MessageFilter } from './message-filter.ts';
import type { Message } from './message.ts';
import { TextTrigrams, trigramsOf } from './text-trigrams.ts';

/** The conditions of a filter on the content of a message. */
export type ContentFilter = Pick<MessageFilter, 'text' | 'priorityMin' | 'priorityMax' | 'tags'>;

/** What a `ContentFilter` compares. */
export type FilteredContent = Pick<Message, 'message' | 'title' | 'priority' | 'tags' | 'isDeleted'>;

/** Texts that are looked for in a message before its trigrams are indexed, which takes as long as about ten of them. */
const plainSearches = 10;

/** A text to look for. */
interface SearchedText {
  readonly folded: string;
  readonly trigrams: Uint16Array;
}

/** A message prepared for many filters: tags and texts are indexed once, when a filter first needs them. */
export class FilterSubject {
  readonly #content: FilteredContent;
  #tags: ReadonlySet<string> | undefined;
  #texts: readonly string[] | undefined;
  #trigrams: TextTrigrams | undefined;
  #searches = 0;

  constructor(content: FilteredContent) {
    this.#content = content;
  }

  get priority(): number {
    return this.#content.priority;
  }

  get isDeleted(): boolean {
    return this.#content.isDeleted;
  }

  /** Whether the message has one of the tags. */
  hasTag(wanted: readonly string[]): boolean {
    const tags = (this.#tags ??= new Set(this.#content.tags));
    return tags.size > 0 && wanted.some((tag) => tags.has(tag));
  }

  /** Whether the text or the title contains the text, case-insensitive. */
  contains({ folded, trigrams }: SearchedText): boolean {
    const { message, title } = this.#content;
    this.#texts ??= (title === null ? [message] : [message, title]).map(foldCase);
    this.#searches += 1;
    if (this.#searches > plainSearches) {
      this.#trigrams ??= new TextTrigrams(this.#texts);
      if (!this.#trigrams.mayContain(trigrams)) return false;
    }
    return this.#texts.some((text) => text.includes(folded));
  }
}

/** Returns the rule by which the filter selects messages; searches of the stores implement the same rule. */
export function contentMatcher(filter: ContentFilter): (subject: FilterSubject) => boolean {
  const matches = recordMatcher(filter);
  return (subject) => matches('message', subject);
}

/**
 * Returns the rule by which the filter selects records. A message must match as in a search. A change reaches every
 * reader that may have the message: the text before an edit is unknown, and the priority and tags never change. A
 * deleted message has lost its tags, also in the records of its earlier changes, which contain its current state.
 */
export function recordMatcher(filter: ContentFilter): (type: RecordType, subject: FilterSubject) => boolean {
  const { tags, priorityMin, priorityMax } = filter;
  const [lowest, highest] = [priorityMin ?? 1, priorityMax ?? 5];
  const text = filter.text === null ? null : searchedText(filter.text);
  return (type, subject) => {
    if (subject.priority < lowest || subject.priority > highest) return false;
    if (type !== 'message' && subject.isDeleted) return true;
    if (tags.length > 0 && !subject.hasTag(tags)) return false;
    return text === null || type !== 'message' || subject.contains(text);
  };
}

function searchedText(text: string): SearchedText {
  const folded = foldCase(text);
  return { folded, trigrams: trigramsOf(folded) };
}
