import type { MessageFilter } from '../../../domain/messages/message-filter.ts';
import type { MessagePage } from '../../../ports/messages.ts';

/** What a reader thread is asked for. */
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
  | { readonly kind: 'count-drift'; readonly topicId: string };

/** Shorter lists are sent with each job. */
const longFrom = 50;
/** Lists that a thread keeps. Harm prevented: lists of thousands of topics filling the memory. */
const listsMax = 20;

/** The topics of a job: the list, the place that the thread has it in, or both where it is to put it there. */
export interface TopicsSent {
  readonly ids?: readonly string[];
  readonly place?: number;
}

/**
 * What one end knows of the long lists of topics that the other one has: an account that searches all its topics asks with
 * the same list (the same array) again and again, which is sent once. Jobs arrive in order, so both ends agree.
 */
export class TopicLists {
  readonly #lists: (readonly string[])[] = [];
  #next = 0;

  /** How to send the list. */
  send(ids: readonly string[]): TopicsSent {
    if (ids.length < longFrom) return { ids };
    const known = this.#lists.indexOf(ids);
    if (known >= 0) return { place: known };
    const place = this.#next;
    this.#next = (place + 1) % listsMax;
    this.#lists[place] = ids;
    return { ids, place };
  }

  /** The list that was sent, each time the same array. */
  receive({ ids, place }: TopicsSent): readonly string[] {
    if (place === undefined) return ids!;
    return (this.#lists[place] = ids ?? this.#lists[place]!);
  }
}

/** The list of topics that the job is about; empty for one that is about none. */
export function topicsOf(job: ReadJob): readonly string[] {
  if ('topicIds' in job) return job.topicIds;
  return 'filter' in job ? job.filter.topicIds : [];
}

/** The job about other topics. */
export function withTopics(job: ReadJob, topicIds: readonly string[]): ReadJob {
  if ('topicIds' in job) return { ...job, topicIds };
  return 'filter' in job ? { ...job, filter: { ...job.filter, topicIds } } : job;
}
