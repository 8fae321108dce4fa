import type { Engine } from '@tocsin/shared/ports/engine.ts';
import type { Clock } from '@tocsin/shared/platform/clock.ts';
import type { MakeId } from '@tocsin/shared/platform/ids.ts';
import type { Config } from '@tocsin/shared/platform/load-config.ts';
import type { Logger } from '@tocsin/shared/platform/logger.ts';
import type { History } from '@tocsin/shared/operations/messages/history.ts';
import type { Passwords } from '@tocsin/shared/operations/accounts/passwords.ts';
import type { Registry } from 'prom-client';
import type { TopicListings } from './directory/topic-listings.ts';
import type { TopicSpans } from './directory/topic-spans.ts';
import type { ClientAddress } from './http/client-address.ts';
import type { RouteDeps } from './http/run-route.ts';
import type { OpenStreams } from './live/open-streams.ts';
import type { OpenWaits } from './live/open-waits.ts';
import type { StreamSessions } from './live/stream-sessions.ts';
import type { TopicFeeds } from './live/topic-feeds.ts';

/** What the API's operations work with. */
export interface ApiDeps extends RouteDeps {
  readonly engine: Engine;
  readonly history: History;
  /** The live records of the topics that this node has readers for. */
  readonly feeds: TopicFeeds;
  readonly streams: OpenStreams;
  readonly waits: OpenWaits;
  readonly streamSessions: StreamSessions;
  /** What the questions of accounts span. */
  readonly topicSpans: TopicSpans;
  readonly topicListings: TopicListings;
  readonly passwords: Passwords;
  /** Where a request comes from, for records. */
  readonly wholeAddress: ClientAddress;
  readonly config: Config;
  /** Where the public reaches the API, and where mails and redirects lead. Without a slash at the end. */
  readonly baseUrl: string;
  readonly appUrl: string;
  readonly makeId: MakeId;
  readonly clock: Clock;
  readonly log: Logger;
  /** The process's figures. */
  readonly metrics: Registry;
  /** Aborted when the node has been told to end: it is not ready from then on. */
  readonly leaving: AbortSignal;
}
