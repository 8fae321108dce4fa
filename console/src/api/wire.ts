/** The JSON of the HTTP interface. The OpenAPI document describes the same types. */
import type { apiKeySchema } from '@tocsin/shared/wire/api-key.ts';
import type { AuditEntryJson } from '@tocsin/shared/wire/audit-entry.ts';
import type { consentSchema } from '@tocsin/shared/wire/consent.ts';
import type { ConsumerJson } from '@tocsin/shared/wire/consumer.ts';
import type { deadLetterSchema } from '@tocsin/shared/wire/dead-letter.ts';
import type { deviceSchema } from '@tocsin/shared/wire/device.ts';
import type { EscalationPolicyJson } from '@tocsin/shared/wire/escalation.ts';
import type { holdSchema } from '@tocsin/shared/wire/hold.ts';
import type { inviteSchema } from '@tocsin/shared/wire/invite.ts';
import type { loginSchema } from '@tocsin/shared/wire/login.ts';
import type { MessageJson } from '@tocsin/shared/wire/message.ts';
import type { MetricsSampleJson, QueueDepthJson, recentMetricsSchema } from '@tocsin/shared/wire/metrics-sample.ts';
import type { RetentionPlanJson, retentionRunSchema } from '@tocsin/shared/wire/retention.ts';
import type { ScheduledMessageJson } from '@tocsin/shared/wire/scheduled-message.ts';
import type { sinkDeliverySchema, SinkJson } from '@tocsin/shared/wire/sink.ts';
import type { SubscriptionJson, TeamSubscriptionJson } from '@tocsin/shared/wire/subscription.ts';
import type { deactivationSchema, memberSchema, teamSchema } from '@tocsin/shared/wire/team.ts';
import type { topicTokenSchema } from '@tocsin/shared/wire/topic-token.ts';
import type { TopicJson } from '@tocsin/shared/wire/topic.ts';
import type { operatorUserSchema } from '@tocsin/shared/wire/user.ts';

export type ApiKey = (typeof apiKeySchema)['_output'];
export type AuditEntry = AuditEntryJson;
export type Consent = (typeof consentSchema)['_output'];
export type Consumer = ConsumerJson;
export type DeactivatedTeam = Team & (typeof deactivationSchema)['_output'];
export type DeadLetter = (typeof deadLetterSchema)['_output'];
export type Device = (typeof deviceSchema)['_output'];
export type EscalationPolicy = EscalationPolicyJson;
export type Hold = (typeof holdSchema)['_output'];
export type Login = (typeof loginSchema)['_output'];
export type Message = MessageJson;
export type MetricsSample = MetricsSampleJson;
export type OperatorUser = (typeof operatorUserSchema)['_output'];
export type QueueDepth = QueueDepthJson;
export type RecentMetrics = (typeof recentMetricsSchema)['_output'];
export type RetentionPlan = RetentionPlanJson;
export type RetentionRun = (typeof retentionRunSchema)['_output'];
export type ScheduledMessage = ScheduledMessageJson;
export type Sink = SinkJson;
export type SinkDelivery = (typeof sinkDeliverySchema)['_output'];
export type Subscription = SubscriptionJson;
export type Team = (typeof teamSchema)['_output'];
export type TeamInvite = (typeof inviteSchema)['_output'];
export type TeamMember = (typeof memberSchema)['_output'];
export type TeamSubscription = TeamSubscriptionJson;
export type TeamWithMembers = Team & { readonly members: readonly TeamMember[] };
export type Topic = TopicJson;
export type TopicToken = (typeof topicTokenSchema)['_output'];

/** `GET /api/messages/{message_id}/deliveries`. */
export interface Deliveries {
  readonly deliveries: readonly {
    readonly device_id: string;
    readonly platform: string;
    readonly status: 'pending' | 'sent' | 'skipped' | 'retrying' | 'dead_token' | 'failed';
    readonly reason: string | null;
    readonly attempts: number;
    readonly updated_at: string;
  }[];
  readonly counts: Readonly<Record<string, number>> | null;
}

/** `POST /api/messages/{message_id}/ack`: the first acknowledgement. */
export type Acknowledgement = Pick<Message, 'acknowledged_at' | 'acknowledged_by'> & { readonly note: string | null };

/** `GET /api/messages/unacknowledged`. */
export type WaitingMessage = Message & {
  /** The number of repeats so far. */
  readonly repeats: number;
  readonly next_repeat_at: string | null;
  readonly next_step: { readonly number: number; readonly at: string } | null;
};

/** A record of `GET /api/topics/{name}/log`. All records of a message contain its current state. */
export interface LogRecord {
  readonly offset: number;
  readonly type: 'message' | 'message_edited' | 'message_deleted' | 'message_acknowledged' | 'message_unacknowledged';
  readonly timestamp: string;
  readonly message: Message;
}

type PriorityCount = Readonly<Record<`priority_${1 | 2 | 3 | 4 | 5}`, number>>;

/** `GET /api/messages/activity`. */
export interface Activity {
  /** All buckets of the range, oldest first, including empty ones. */
  readonly buckets: readonly (PriorityCount & { readonly timestamp: string })[];
  readonly bucket_size: 'hour' | 'day';
  readonly total: number;
}

/** `GET /api/teams/stats`: the caller's seats as owner. */
export interface TeamStats {
  readonly base_members: number;
  readonly additional_members: number;
  readonly used_members: number;
  readonly total_members: number;
  readonly available_members: number;
  readonly percentage_used: number;
}
