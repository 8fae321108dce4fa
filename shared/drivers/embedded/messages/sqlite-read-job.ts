import type { MessageFilter } from '../../../domain/messages/message-filter.ts';
import type { MessagePage } from '../../../ports/messages/message-search.ts';

/** A request to a reader thread. */
export type ReadJob =
  | { readonly kind: 'search'; readonly filter: MessageFilter; readonly page: MessagePage }
  | {
      readonly kind: 'recent';
      readonly topicIds: readonly string[];
      readonly page: { readonly limit: number; readonly now: number };
    }
  | { readonly kind: 'activity'; readonly filter: MessageFilter; readonly bucketMs: number }
  | { readonly kind: 'expired'; readonly from: number; readonly time: number; readonly except: readonly string[] }
  | { readonly kind: 'oldest-kept'; readonly topicIds: readonly string[]; readonly time: number }
  | {
      readonly kind: 'held';
      readonly topicId: string;
      readonly page: { readonly after: number; readonly time: number; readonly limit: number };
    }
  | {
      readonly kind: 'expired-of';
      readonly topicId: string;
      readonly page: { readonly after: number; readonly time: number; readonly limit: number };
    }
  | { readonly kind: 'count-drift'; readonly topicId: string };

/** Shorter lists are not cached but sent with each job. */
const longFrom = 50;
/** Cached lists per thread; limits the memory for lists of thousands of topics. */
const listsMax = 20;

/** The topics of a job: the list, a cache slot of the thread, or both to fill the slot. */
export interface TopicsSent {
  readonly ids?: readonly string[];
  readonly place?: number;
}

/**
 * A cache of topic lists with one end in each thread, so that a list that is used repeatedly (the same array) is sent
 * once. Jobs arrive in order, so both ends agree.
 */
export class TopicLists {
  readonly #lists: (readonly string[])[] = [];
  #next = 0;

  /** Returns the form in which to send the list. */
  send(ids: readonly string[]): TopicsSent {
    if (ids.length < longFrom) return { ids };
    const known = this.#lists.indexOf(ids);
    if (known >= 0) return { place: known };
    const place = this.#next;
    this.#next = (place + 1) % listsMax;
    this.#lists[place] = ids;
    return { ids, place };
  }

  /** Returns the received list. A cached list is the same array each time. */
  receive({ ids, place }: TopicsSent): readonly string[] {
    if (place === undefined) return ids!;
    return (this.#lists[place] = ids ?? this.#lists[place]!);
  }
}

/** Returns the job's topics; empty if it has none. */
export function topicsOf(job: ReadJob): readonly string[] {
  if ('topicIds' in job) return job.topicIds;
  return 'filter' in job ? job.filter.topicIds : [];
}

/** Returns the job with other topics. */
export function withTopics(job: ReadJob, topicIds: readonly string[]): ReadJob {
  if ('topicIds' in job) return { ...job, topicIds };
  return 'filter' in job ? { ...job, filter: { ...job.filter, topicIds } } : job;
}
