import { z } from 'zod';
import { archive } from './archive-variables.ts';
import { push } from './push-variables.ts';
import { readSchedule } from './read-schedule.ts';
import { splitList } from './split-list.ts';
import { parseAddressRange } from './address-guard.ts';
import { trustedProxies } from './trusted-proxies.ts';
import {
  days,
  flag,
  httpUrl,
  isAcceptedBy,
  optionalDays,
  originPattern,
  port,
  url,
  type VariableDoc,
  variableDocs,
} from './variable-types.ts';

/** Roles of a process; `npm start` runs all of them. */
const roles = ['api', 'fanout', 'notifier', 'retention'] as const;

export const saslMechanisms = ['plain', 'scram-sha-256', 'scram-sha-512'] as const;

const addresses = {
  HOST: z.string().default('127.0.0.1').register(variableDocs, {
    description: 'listening address; the container image sets `0.0.0.0`',
  }),
  PORT: port.default(8080).register(variableDocs, {
    description: 'port of the API; 0 selects a free port',
  }),
  BASE_URL: httpUrl.optional().register(variableDocs, {
    description: 'public URL of the API; verification links start with it',
    defaultText: 'the listening address',
    example: 'https://tocsin.example.org',
  }),
  APP_URL: url.optional().register(variableDocs, {
    description: 'URL of the app; other links in emails point to it',
    defaultText: '`BASE_URL`',
    example: 'https://app.example.org',
  }),
};

const embedded = {
  DATA_DIR: z.string().default('./data').register(variableDocs, {
    description: 'directory of the [files](#data_dir); the image sets `/data`',
  }),
};

const cluster = {
  KAFKA_BROKERS: z.string().optional().register(variableDocs, {
    description: 'Kafka brokers, comma-separated. A cluster requires these three variables',
    example: 'kafka:9092',
  }),
  MONGO_URL: z.string().optional().register(variableDocs, {
    description: 'MongoDB replica set with the database name',
    example: 'mongodb://mongo:27017/tocsin?replicaSet=rs0',
  }),
  REDIS_URL: z.string().optional().register(variableDocs, {
    description: 'Redis with `maxmemory-policy noeviction`',
    example: 'redis://redis:6379',
  }),
};

const logTopic = {
  KAFKA_TOPIC: z
    .string()
    .regex(/^[A-Za-z0-9._-]{1,200}$/)
    .default('tocsin.messages')
    .register(variableDocs, {
      description: `Kafka topic of the event log, which Tocsin creates with the next three variables; also the prefix of consumer groups and of Redis keys`,
    }),
  KAFKA_PARTITIONS: z.coerce.number().int().min(1).max(1_000).default(12).register(variableDocs, {
    description: 'number of partitions, 1 to 1,000. Kafka can add some later, while nodes run',
  }),
  KAFKA_REPLICATION: z.coerce.number().int().min(1).max(9).default(1).register(variableDocs, {
    description: 'replication factor, 1 to 9. From 3, `min.insync.replicas` is 2',
  }),
  KAFKA_RETENTION_DAYS: days.default(7).register(variableDocs, {
    description: 'retention of records in Kafka',
  }),
};

const kafkaAccess = {
  KAFKA_TLS: flag.default(false).register(variableDocs, {
    description: '`on` encrypts connections to the brokers and checks their certificates',
  }),
  KAFKA_TLS_CA_FILE: z.string().optional().register(variableDocs, {
    description: 'trusted certificates in PEM; default: the public authorities',
    example: '/etc/tocsin/kafka-ca.pem',
  }),
  KAFKA_SASL_MECHANISM: z.string().toLowerCase().pipe(z.enum(saslMechanisms)).optional().register(variableDocs, {
    description: '`plain` (only with TLS), `scram-sha-256` or `scram-sha-512`',
    example: 'scram-sha-512',
  }),
  KAFKA_SASL_USERNAME: z.string().optional().register(variableDocs, {
    description: '',
    example: 'tocsin',
  }),
  KAFKA_SASL_PASSWORD: z.string().optional().register(variableDocs, {
    description: '',
    isSecret: true,
  }),
};

const process = {
  ROLES: z
    .string()
    .default(roles.join(','))
    .transform(splitList)
    .pipe(z.array(z.enum(roles)).min(1))
    .register(variableDocs, {
      description: 'roles that `tocsin serve` runs in this process',
    }),
};

const secrets = {
  JWT_SECRET: z.string().optional().register(variableDocs, {
    description:
      'secrets of access tokens of at least 32 bytes, comma-separated: the first one signs, all verify. Required for the API of a cluster, the same on all nodes',
    defaultText: 'embedded: generated and stored',
    isSecret: true,
  }),
  ADMIN_TOKEN: z.string().optional().register(variableDocs, {
    description:
      'token of the `/admin` endpoints, which return 404 without it. It grants operator access: choose a long random value, of at least 16 characters if `NODE_ENV` is `production`',
    isSecret: true,
  }),
};

const email = {
  SMTP_URL: z
    .url({ protocol: /^smtps?$/, error: 'must be a URL that begins with smtp:// or smtps://' })
    .optional()
    .register(variableDocs, {
      description:
        'mail server, `smtp://` or `smtps://`. Set it for the notifier and the API. Without it, emails are written to files',
      example: 'smtp://user:password@mail.example.org:587',
    }),
  MAIL_FROM: z.string().default('Tocsin <tocsin@localhost>').register(variableDocs, {
    description: 'sender of emails',
  }),
};

const signIn = {
  GOOGLE_CLIENT_ID: z.string().optional().register(variableDocs, {
    description: 'enables Google login',
  }),
  GOOGLE_CLIENT_SECRET: z.string().optional().register(variableDocs, {
    description: '',
    isSecret: true,
  }),
  GOOGLE_ISSUER: httpUrl.default('https://accounts.google.com').register(variableDocs, {
    description: 'OpenID provider with discovery, the authorization code flow and PKCE',
  }),
  APPLE_CLIENT_ID: z.string().optional().register(variableDocs, {
    description: `bundle ID of the app. Enables Apple login`,
  }),
  APPLE_ISSUER: httpUrl.default('https://appleid.apple.com').register(variableDocs, {
    description: 'issuer of the identity tokens',
  }),
  APPLE_JWKS_URL: httpUrl.default('https://appleid.apple.com/auth/keys').register(variableDocs, {
    description: 'public keys that verify the identity tokens',
  }),
};

const retention = {
  RETENTION_SCHEDULE: z
    .string()
    .refine(isAcceptedBy(readSchedule), 'must be a duration like 60s or a cron expression of five fields')
    .default('60s')
    .register(variableDocs, {
      description: 'schedule of sweeps: `60s`, `5m`, `1h`, `1d`, or a cron expression of five fields in UTC',
    }),
  RETENTION_DAYS_FREE: days.default(7).register(variableDocs, {
    description: `retention of messages by the tier of the topic's owner at the time of the publish`,
  }),
  RETENTION_DAYS_ESSENTIALS: days.default(30).register(variableDocs, {
    description: '',
  }),
  RETENTION_DAYS_TEAM: days.default(90).register(variableDocs, {
    description: '',
  }),
  RETENTION_PROTECT_CONSUMERS: flag.default(false).register(variableDocs, {
    description:
      '`on` keeps records that a [consumer](consuming.md#protection) has not read for up to 7 days after their expiry, only for it',
  }),
  ARCHIVE_DEFAULT: flag.default(true).register(variableDocs, {
    description: 'whether topics without `archive` of their own are archived',
  }),
  ERASURE_SETTLE_SECONDS: z.coerce.number().min(10).max(86_400).default(60).register(variableDocs, {
    description:
      'delay of the second clean-up after a deletion of an account or topic, which removes writes that were in flight; 10 to 86,400',
  }),
  LOGIN_LIFETIME_DAYS: days.default(90).register(variableDocs, {
    description: 'time after which a login ends although it is refreshed',
  }),
  TEAM_GRACE_DAYS: optionalDays.default(7).register(variableDocs, {
    description: 'grace period of a team whose owner is below the TEAM tier',
  }),
  TEAM_REMOVAL_DAYS: optionalDays.default(60).register(variableDocs, {
    description: 'time from the deactivation of a team to its removal',
  }),
  AUDIT_RETENTION_DAYS: days.default(365).register(variableDocs, {
    description: 'retention of the [audit log](audit-log.md)',
  }),
};

const limits = {
  RATE_LIMITS: flag.default(true).register(variableDocs, {
    description:
      '`off` disables all limits on requests, publishes, failed logins, emails per address and open streams; for load tests and trusted networks',
  }),
  MAX_CONNECTIONS: z.coerce.number().int().min(1).optional().register(variableDocs, {
    description: 'open connections of an API node; further ones are closed',
    defaultText: '80 % of the file descriptors',
    example: '10000',
  }),
  MAX_CONNECTIONS_PER_ADDRESS: z.coerce.number().int().min(0).default(1_000).register(variableDocs, {
    description: 'open connections per address, IPv6 by /64; 0 for no limit. Ignored if `TRUST_PROXY` is set',
  }),
  MAX_REQUESTS_PER_MINUTE: z.coerce.number().int().min(1).default(6_000).register(variableDocs, {
    description: 'requests per minute and API node of an API key, a topic token, or all logins of an account',
  }),
  TRUST_PROXY: z
    .string()
    .refine(isAcceptedBy(trustedProxies), 'must be a number of hops, or comma-separated addresses and CIDRs')
    .default('')
    .register(variableDocs, {
      description:
        'proxies whose `X-Forwarded-For` is trusted: a number of hops, or comma-separated addresses and CIDRs',
      example: '1',
    }),
  CORS_ORIGINS: z
    .string()
    .transform((text) => splitList(text).map((origin) => origin.replace(/\/$/, '')))
    .refine(
      (origins) => origins.every((origin) => originPattern.test(origin)),
      'must be `*`, or comma-separated origins like https://app.example.org',
    )
    .optional()
    .register(variableDocs, {
      description:
        'additional origins whose scripts can call the API and open WebSockets, comma-separated; `*` allows all',
      example: 'https://app.example.org',
    }),
};

const sinkTargets = {
  SINKS_ALLOW_HTTP: flag.default(false).register(variableDocs, {
    description: '`on` allows `http:` URLs of sinks',
  }),
  SINKS_ALLOW_ADDRESSES: z
    .string()
    .transform(splitList)
    .refine((ranges) => ranges.every(isAcceptedBy(parseAddressRange)), 'must be comma-separated addresses and CIDRs')
    .optional()
    .register(variableDocs, {
      description: 'private addresses that sinks may connect to, comma-separated addresses and CIDRs',
      example: '10.20.0.0/16',
    }),
};

const observability = {
  LOG_LEVEL: z
    .string()
    .toLowerCase()
    .pipe(z.enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']))
    .default('info')
    .register(variableDocs, {
      description: '`trace`, `debug`, `info`, `warn`, `error`, `fatal`, `silent`',
    }),
  SHUTDOWN_DELAY_SECONDS: z.coerce.number().min(0).max(15).default(0).register(variableDocs, {
    description:
      'how long a terminating API node reports that it is not ready before it [stops](operations.md#restarts). At most 15',
  }),
  METRICS_PORT: port.optional().register(variableDocs, {
    description:
      "port of `HOST` for health and metrics of any process. Without it, the API's port serves both, and processes without the role `api` serve neither",
    example: '9090',
  }),
};

const tracing = {
  OTEL_EXPORTER_OTLP_ENDPOINT: httpUrl.optional().register(variableDocs, {
    description:
      'OTLP/HTTP collector; enables [tracing](operations.md#tracing). Spans are sent to `/v1/traces` of this URL',
    example: 'http://otel-collector:4318',
  }),
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: httpUrl.optional().register(variableDocs, {
    description: 'the same with the complete URL; takes precedence',
  }),
  OTEL_TRACES_EXPORTER: z.string().optional().register(variableDocs, {
    description: '`otlp` enables tracing, by default to `http://localhost:4318`; `none` disables it',
    defaultText: '`otlp` with an endpoint',
  }),
  OTEL_SDK_DISABLED: z.string().optional().register(variableDocs, {
    description: '`true` disables tracing regardless of other variables',
  }),
  OTEL_EXPORTER_OTLP_PROTOCOL: z.string().optional().register(variableDocs, {
    description: 'tracing is off for other values. The second variable takes precedence',
    defaultText: '`http/protobuf`',
  }),
  OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: z.string().optional().register(variableDocs, {
    description: '',
    defaultText: '`http/protobuf`',
  }),
  OTEL_EXPORTER_OTLP_HEADERS: z.string().optional().register(variableDocs, {
    description:
      'headers for the collector, such as an API key: `name=value`, comma-separated. The second variable takes precedence',
    isSecret: true,
  }),
  OTEL_EXPORTER_OTLP_TRACES_HEADERS: z.string().optional().register(variableDocs, {
    description: '',
    isSecret: true,
  }),
  OTEL_TRACES_SAMPLER: z.string().default('parentbased_always_on').register(variableDocs, {
    description:
      '`always_on`, `always_off`, `traceidratio`, or one of them with the prefix `parentbased_`, which follows the request',
  }),
  OTEL_TRACES_SAMPLER_ARG: z.coerce.number().min(0).max(1).default(1).register(variableDocs, {
    description: 'fraction of traces that `traceidratio` keeps, 0 to 1',
  }),
  OTEL_SERVICE_NAME: z.string().optional().register(variableDocs, {
    description: 'service name of spans',
    defaultText: '`tocsin`, or `tocsin-<role>` if each role has its own process',
  }),
  OTEL_RESOURCE_ATTRIBUTES: z.string().optional().register(variableDocs, {
    description: 'resource attributes of spans: `name=value`, comma-separated',
    example: 'deployment.environment.name=production',
  }),
};

const terms = {
  TERMS_VERSION: z.string().min(1).max(50).default('1.0').register(variableDocs, {
    description: 'version of the terms that accounts accept',
  }),
};

/** All variables by name, with defaults and documentation. */
export const variables = z.object({
  ...addresses,
  ...embedded,
  ...cluster,
  ...logTopic,
  ...kafkaAccess,
  ...process,
  ...secrets,
  ...email,
  ...signIn,
  ...push,
  ...retention,
  ...archive,
  ...limits,
  ...sinkTargets,
  ...observability,
  ...tracing,
  ...terms,
});
export type Variables = z.infer<typeof variables>;

/** The documentation of a variable for operators. */
export interface VariableRow extends VariableDoc {
  readonly name: string;
  /** The default as text; undefined if there is no default. */
  readonly defaultValue: string | undefined;
}

/** All documented variables under the headings of `.env.example`. */
export const variableGroups: readonly { readonly heading: string; readonly rows: readonly VariableRow[] }[] = [
  { heading: 'Addresses', rows: rowsOf(addresses) },
  { heading: 'Embedded engine: one file in this directory', rows: rowsOf(embedded) },
  { heading: 'Cluster: set all three URLs or none of them', rows: rowsOf(cluster) },
  { heading: 'Kafka topic of the event log; numbers apply when it is created', rows: rowsOf(logTopic) },
  { heading: 'Kafka over TLS and SASL: plain, scram-sha-256 or scram-sha-512', rows: rowsOf(kafkaAccess) },
  { heading: 'Roles of this process', rows: rowsOf(process) },
  {
    heading: 'Secrets. A cluster requires JWT_SECRET, for example from: openssl rand -base64 48',
    rows: rowsOf(secrets),
  },
  { heading: 'Email. Without SMTP_URL, emails are written to DATA_DIR/mail', rows: rowsOf(email) },
  { heading: 'Google and Apple login', rows: rowsOf(signIn) },
  { heading: 'Push providers', rows: rowsOf(push) },
  { heading: 'Retention', rows: rowsOf(retention) },
  { heading: 'Archive of removed messages', rows: rowsOf(archive) },
  { heading: 'Limits and origins', rows: rowsOf(limits) },
  { heading: 'Sinks', rows: rowsOf(sinkTargets) },
  { heading: 'Logs, health and metrics', rows: rowsOf(observability) },
  { heading: 'Traces, by OpenTelemetry', rows: rowsOf(tracing) },
  { heading: 'The terms that accounts accept', rows: rowsOf(terms) },
];

function rowsOf(group: Readonly<Record<string, z.ZodType>>): VariableRow[] {
  return Object.entries(group).map(([name, schema]) => ({
    name,
    defaultValue: asText(schema.parse(undefined)),
    ...variableDocs.get(schema)!,
  }));
}

/** Formats a value as it is set; undefined if it has no value. */
function asText(value: unknown): string | undefined {
  if (value === undefined || value === '') return undefined;
  if (typeof value === 'boolean') return value ? 'on' : 'off';
  return Array.isArray(value) ? value.join(',') : String(value);
}
