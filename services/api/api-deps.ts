import type { Engine } from '@tocsin/shared/ports/engine.ts';
import type { Clock } from '@tocsin/shared/platform/clock.ts';
import type { MakeId } from '@tocsin/shared/platform/ids.ts';
import type { Config } from '@tocsin/shared/platform/load-config.ts';
import type { Logger } from '@tocsin/shared/platform/logger.ts';
import type { History } from '@tocsin/shared/operations/messages/history.ts';
import type { Passwords } from '@tocsin/shared/operations/accounts/passwords.ts';
import type { RecentMetrics } from '@tocsin/shared/runtime/recent-metrics.ts';
import type { Registry } from 'prom-client';
import type { TopicListings } from './directory/topic-listings.ts';
import type { TopicSpans } from './directory/topic-spans.ts';
import type { ClientAddress } from './http/client-address.ts';
import type { RouteDeps } from './http/run-route.ts';
import type { OpenStreams } from './live/open-streams.ts';
import type { OpenWaits } from './live/open-waits.ts';
import type { StreamFilters } from './live/filtering/stream-filters.ts';
import type { StreamBudget } from './live/stream-budget.ts';
import type { StreamSessions } from './live/stream-sessions.ts';
import type { TopicFeeds } from './live/topic-feeds.ts';
import type { InlineStore } from './storing/inline-store.ts';

/** The dependencies of the API's operations. */
export interface ApiDeps extends RouteDeps {
  readonly engine: Engine;
  readonly history: History;
  /** Makes acknowledged messages readable. */
  readonly inlineStore: InlineStore;
  /** The live records of topics with readers on this node. */
  readonly feeds: TopicFeeds;
  readonly streams: OpenStreams;
  readonly streamBudget: StreamBudget;
  readonly streamFilters: StreamFilters;
  readonly waits: OpenWaits;
  readonly streamSessions: StreamSessions;
  /** The topics that queries of accounts cover. */
  readonly topicSpans: TopicSpans;
  readonly topicListings: TopicListings;
  readonly passwords: Passwords;
  /** The client address of a request, for records. */
  readonly wholeAddress: ClientAddress;
  readonly config: Config;
  /** The public URL of the API, and the target of emails and redirects. Without a trailing slash. */
  readonly baseUrl: string;
  readonly appUrl: string;
  readonly makeId: MakeId;
  readonly clock: Clock;
  readonly log: Logger;
  /** The process's metrics. */
  readonly metrics: Registry;
  /** Null without ADMIN_TOKEN, because only the operator reads it. */
  readonly recentMetrics: Pick<RecentMetrics, 'read'> | null;
  /** Aborted when the node starts to shut down and is no longer ready. */
  readonly leaving: AbortSignal;
}
