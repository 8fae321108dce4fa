import { z } from 'zod';
import { readSchedule } from './read-schedule.ts';
import { trustedProxies } from './trusted-proxies.ts';

/** Roles a process can play; `npm start` plays all of them. */
export const roles = ['api', 'fanout', 'notifier', 'retention'] as const;
export type Role = (typeof roles)[number];

/** What is told of a variable, in Markdown where it is text. */
interface Told {
  readonly about: string;
  /** What stands for the default where there is none to show, such as the value of another variable. */
  readonly shown?: string;
  /** For `.env.example`, of a variable without a default. */
  readonly example?: string;
  /** Its value is shown to nobody. */
  readonly isSecret?: true;
}

const tellings = z.registry<Told>();

/** The parts of a comma-separated list. */
export const list = (text: string): string[] =>
  text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');
const flag = z
  .string()
  .toLowerCase()
  .pipe(z.enum(['on', 'off', 'true', 'false', '1', '0']))
  .transform((value) => ['on', 'true', '1'].includes(value));
const days = z.coerce.number().positive();
const daysOrNone = z.coerce.number().min(0);
const port = z.coerce.number().int().min(0).max(65_535);
const url = z.url();
const httpUrl = z.url({ protocol: /^https?$/, error: 'it takes an address that begins with http:// or https://' });
/** As browsers send it: without a path, whatever the scheme. */
const originForm = /^(\*|null|[a-z][a-z0-9+.-]*:\/\/[^/?#\s]+)$/i;
/** Whether it is text that the function takes, and throws nothing. */
const isReadBy =
  (read: (text: string) => unknown) =>
  (text: string): boolean => {
    try {
      read(text);
      return true;
    } catch {
      return false;
    }
  };

export const saslMechanisms = ['plain', 'scram-sha-256', 'scram-sha-512'] as const;

const listening = {
  HOST: z.string().default('127.0.0.1').register(tellings, {
    about: 'address to listen on; the container image sets `0.0.0.0`',
  }),
  PORT: port.default(8080).register(tellings, {
    about: 'port of the API; 0: a free one',
  }),
  BASE_URL: httpUrl.optional().register(tellings, {
    about: 'where the public reaches the API; verification links start with it',
    shown: 'the address listened on',
    example: 'https://tocsin.example.org',
  }),
  APP_URL: url.optional().register(tellings, {
    about: 'where the app is; other links in mails lead there',
    shown: '`BASE_URL`',
    example: 'https://app.example.org',
  }),
};

const embedded = {
  DATA_DIR: z.string().default('./data').register(tellings, {
    about: "directory of the embedded engine's file and of mails without a mail server; the image sets `/data`",
  }),
};

const cluster = {
  KAFKA_BROKERS: z.string().optional().register(tellings, {
    about:
      'brokers, comma-separated. With the next two: a cluster. None of the three: embedded. One or two are a fault',
    example: 'kafka:9092',
  }),
  MONGO_URL: z.string().optional().register(tellings, {
    about: 'a replica set; the database is the one that the URL names',
    example: 'mongodb://mongo:27017/tocsin?replicaSet=rs0',
  }),
  REDIS_URL: z.string().optional().register(tellings, {
    about: 'a Redis that evicts nothing',
    example: 'redis://redis:6379',
  }),
};

const logTopic = {
  KAFKA_TOPIC: z
    .string()
    .regex(/^[A-Za-z0-9._-]{1,200}$/)
    .default('tocsin.messages')
    .register(tellings, {
      about: `the log's topic; also the start of the names of consumer groups, and of keys and channels in Redis`,
    }),
  KAFKA_PARTITIONS: z.coerce.number().int().min(1).max(1_000).default(12).register(tellings, {
    about: '1 to 1,000; counts when the topic is made, and is not to be changed afterwards',
  }),
  KAFKA_REPLICATION: z.coerce.number().int().min(1).max(9).default(1).register(tellings, {
    about: '1 to 9; from 3 on the topic wants two replicas in sync. Counts when the topic is made',
  }),
  KAFKA_RETENTION_DAYS: days.default(7).register(tellings, {
    about: 'how long records stay in Kafka. Counts when the topic is made',
  }),
};

const kafkaAccess = {
  KAFKA_TLS: flag.default(false).register(tellings, {
    about: '`on`: connections to the brokers are encrypted, and their certificates checked',
  }),
  KAFKA_TLS_CA_FILE: z.string().optional().register(tellings, {
    about: 'the certificates to trust, in PEM; without it those of the public authorities',
    example: '/etc/tocsin/kafka-ca.pem',
  }),
  KAFKA_SASL_MECHANISM: z.string().toLowerCase().pipe(z.enum(saslMechanisms)).optional().register(tellings, {
    about:
      '`plain`, `scram-sha-256` or `scram-sha-512`: logs in to the brokers, together with the next two. `plain` sends the password as it is, so not without TLS',
    example: 'scram-sha-512',
  }),
  KAFKA_SASL_USERNAME: z.string().optional().register(tellings, {
    about: '',
    example: 'tocsin',
  }),
  KAFKA_SASL_PASSWORD: z.string().optional().register(tellings, {
    about: '',
    isSecret: true,
  }),
};

const process = {
  ROLES: z
    .string()
    .default(roles.join(','))
    .transform(list)
    .pipe(z.array(z.enum(roles)).min(1))
    .register(tellings, {
      about: 'what `tocsin serve` runs in this process',
    }),
};

const secrets = {
  JWT_SECRET: z.string().optional().register(tellings, {
    about:
      'signs access tokens; several, comma-separated: the first signs, all verify. At least 32 bytes each. Required for a cluster, the same on all nodes',
    shown: 'embedded: made and kept',
    isSecret: true,
  }),
  ADMIN_TOKEN: z.string().optional().register(tellings, {
    about:
      'opens `/admin`: long and random, for who guesses it is the operator; at least 16 characters where `NODE_ENV` is `production`, as in the container and the systemd unit. Without it `/admin` is a 404',
    isSecret: true,
  }),
};

const mails = {
  SMTP_URL: z
    .url({ protocol: /^smtps?$/, error: 'it takes an address that begins with smtp:// or smtps://' })
    .optional()
    .register(tellings, {
      about: '`smtp://` or `smtps://`. Without it mails become files, see below',
      example: 'smtp://user:password@mail.example.org:587',
    }),
  MAIL_FROM: z.string().default('Tocsin <tocsin@localhost>').register(tellings, {
    about: 'sender of mails',
  }),
};

const signIn = {
  GOOGLE_CLIENT_ID: z.string().optional().register(tellings, {
    about: 'opens sign-in with Google, together with the next; one of the two alone is a fault',
  }),
  GOOGLE_CLIENT_SECRET: z.string().optional().register(tellings, {
    about: '',
    isSecret: true,
  }),
  GOOGLE_ISSUER: httpUrl.default('https://accounts.google.com').register(tellings, {
    about:
      'the OpenID provider; its configuration is read below this address. `http:` is taken for one on your own network',
  }),
  APPLE_CLIENT_ID: z.string().optional().register(tellings, {
    about: `opens sign-in with Apple: the app's bundle id, which its identity tokens are made for`,
  }),
  APPLE_ISSUER: httpUrl.default('https://appleid.apple.com').register(tellings, {
    about: 'who the identity tokens must be from',
  }),
  APPLE_JWKS_URL: httpUrl.default('https://appleid.apple.com/auth/keys').register(tellings, {
    about: 'the keys that they are checked with',
  }),
};

const push = {
  APNS_KEY_FILE: z.string().optional().register(tellings, {
    about:
      "the `.p8` key from Apple's developer account. It and the next three open pushes to `ios` devices; some of the four alone are a fault",
  }),
  APNS_KEY_ID: z.string().optional().register(tellings, {
    about: '',
  }),
  APNS_TEAM_ID: z.string().optional().register(tellings, {
    about: '',
  }),
  APNS_BUNDLE_ID: z.string().optional().register(tellings, {
    about: 'the app that the pushes are for',
  }),
  APNS_URL: httpUrl.optional().register(tellings, {
    about: 'another push service: `https://api.sandbox.push.apple.com` for apps in development, or a simulator',
    shown: `Apple's own`,
  }),
  APNS_CA_FILE: z.string().optional().register(tellings, {
    about: `PEM of the authority that signed a simulator's certificate`,
  }),
  FCM_SERVICE_ACCOUNT_FILE: z.string().optional().register(tellings, {
    about: 'the JSON key of a service account, from the Firebase console. It opens pushes to `android` devices',
  }),
  FCM_URL: httpUrl.optional().register(tellings, {
    about: 'a simulator of FCM; access tokens come from the `token_uri` of the service account then',
    shown: `Google's own`,
  }),
  EXPO_ACCESS_TOKEN: z.string().optional().register(tellings, {
    about: 'for Expo projects with enhanced push security',
    isSecret: true,
  }),
  EXPO_URL: httpUrl.optional().register(tellings, {
    about: 'another push API, for tests',
    shown: `Expo's own`,
  }),
  EXPO_RECEIPT_SECONDS: z.coerce.number().min(0.1).max(43_200).default(900).register(tellings, {
    about:
      'when Expo is first asked whether the phones that it took pushes for could be reached; it keeps receipts for a day',
  }),
  PUSH_RETRY_SECONDS: z.coerce.number().min(0).max(86_400).default(3_600).register(tellings, {
    about:
      'for how long a push that its provider puts off is tried again, at most 86,400; then it is a [dead letter](#pushes-that-did-not-arrive)',
  }),
};

const retention = {
  RETENTION_SCHEDULE: z
    .string()
    .refine(isReadBy(readSchedule), 'it takes a duration like 60s, or a cron expression of five fields')
    .default('60s')
    .register(tellings, {
      about: 'when sweeps run: `60s`, `5m`, `1h`, `1d`, or a cron expression of five fields in UTC',
    }),
  RETENTION_DAYS_FREE: days.default(7).register(tellings, {
    about: `how long messages are kept; the tier of the topic's owner at the publish counts`,
  }),
  RETENTION_DAYS_ESSENTIALS: days.default(30).register(tellings, {
    about: 'likewise',
  }),
  RETENTION_DAYS_TEAM: days.default(90).register(tellings, {
    about: 'likewise',
  }),
  ERASURE_SETTLE_SECONDS: z.coerce.number().min(10).max(86_400).default(60).register(tellings, {
    about:
      'after so long what is left of a deleted account or topic is looked for again: what was under way at its deletion has arrived by then. Nodes go by what they have cached for up to 5 seconds; at least 10, at most 86,400',
  }),
  TEAM_GRACE_DAYS: daysOrNone.default(7).register(tellings, {
    about:
      'how long a team goes on whose owner is below the TEAM tier; then it is deactivated. Days, a fraction allowed',
  }),
  TEAM_REMOVAL_DAYS: daysOrNone.default(60).register(tellings, {
    about: "from a team's deactivation to its removal: what `removal_at` tells. Days, a fraction allowed",
  }),
  AUDIT_RETENTION_DAYS: days.default(365).register(tellings, {
    about: 'how long entries of the [audit log](#audit-log) are kept. Days, a fraction allowed',
  }),
};

const limits = {
  RATE_LIMITS: flag.default(true).register(tellings, {
    about:
      '`off` ends all limits on requests, publishes, failed logins, mails to an address and open streams; for load tests and trusted networks',
  }),
  TRUST_PROXY: z
    .string()
    .refine(isReadBy(trustedProxies), 'it takes a number of hops, or addresses and CIDRs, comma-separated')
    .default('')
    .register(tellings, {
      about: 'whose `X-Forwarded-For` is believed: a number of hops, or addresses and CIDRs, comma-separated',
      shown: 'none',
      example: '1',
    }),
  CORS_ORIGINS: z
    .string()
    .transform((text) => list(text).map((origin) => origin.replace(/\/$/, '')))
    .refine(
      (origins) => origins.every((origin) => originForm.test(origin)),
      'it takes `*`, or origins like https://app.example.org, comma-separated',
    )
    .optional()
    .register(tellings, {
      about: 'origins whose scripts may call the API, comma-separated; `*` for all',
      shown: 'the origin of `APP_URL`',
      example: 'https://app.example.org',
    }),
};

const watching = {
  LOG_LEVEL: z
    .string()
    .toLowerCase()
    .pipe(z.enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']))
    .default('info')
    .register(tellings, {
      about: '`trace`, `debug`, `info`, `warn`, `error`, `fatal`, `silent`',
    }),
  SHUTDOWN_DELAY_SECONDS: z.coerce.number().min(0).max(15).default(0).register(tellings, {
    about:
      'for so long an API node that is told to end goes on as before, but says that it is not ready: as long as your load balancer takes to notice. At most 15',
  }),
  METRICS_PORT: port.optional().register(tellings, {
    about:
      "health and metrics of any process on this port of `HOST`, and figures there alone. Without it the API's port serves both, and processes without the role `api` neither",
    example: '9090',
  }),
};

const tracing = {
  OTEL_EXPORTER_OTLP_ENDPOINT: httpUrl.optional().register(tellings, {
    about:
      'a collector that takes OTLP over HTTP: opens [tracing](#traces), as the next does; spans go to `/v1/traces` below it',
    example: 'http://otel-collector:4318',
  }),
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: httpUrl.optional().register(tellings, {
    about: 'where spans are posted to, the whole address; goes before the former',
  }),
  OTEL_TRACES_EXPORTER: z.string().optional().register(tellings, {
    about: '`otlp` opens tracing, by default to `http://localhost:4318`; `none` ends it',
    shown: '`otlp` with an endpoint',
  }),
  OTEL_SDK_DISABLED: z.string().optional().register(tellings, {
    about: '`true` ends tracing, whatever else is set',
  }),
  OTEL_EXPORTER_OTLP_PROTOCOL: z.string().optional().register(tellings, {
    about: 'nothing is traced where this is anything else',
    shown: '`http/protobuf`',
  }),
  OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: z.string().optional().register(tellings, {
    about: 'likewise; goes before the former',
    shown: '`http/protobuf`',
  }),
  OTEL_EXPORTER_OTLP_HEADERS: z.string().optional().register(tellings, {
    about: 'what the collector wants to see, such as a key: `name=value`, comma-separated',
    isSecret: true,
  }),
  OTEL_EXPORTER_OTLP_TRACES_HEADERS: z.string().optional().register(tellings, {
    about: 'likewise; these go before the former',
    isSecret: true,
  }),
  OTEL_TRACES_SAMPLER: z.string().default('parentbased_always_on').register(tellings, {
    about:
      'which traces are kept: `always_on`, `always_off`, `traceidratio`, or one of them with `parentbased_` before it, which does as the caller does where the request has a `traceparent`',
  }),
  OTEL_TRACES_SAMPLER_ARG: z.coerce.number().min(0).max(1).default(1).register(tellings, {
    about: 'the part that `traceidratio` keeps, 0 to 1',
  }),
  OTEL_SERVICE_NAME: z.string().optional().register(tellings, {
    about: 'what spans are said to be of',
    shown: '`tocsin`, or `tocsin-api` and so on where a role has its own process',
  }),
  OTEL_RESOURCE_ATTRIBUTES: z.string().optional().register(tellings, {
    about: 'what else spans say of where they are from: `name=value`, comma-separated',
    example: 'deployment.environment.name=production',
  }),
};

const terms = {
  TERMS_VERSION: z.string().min(1).max(50).default('1.0').register(tellings, {
    about: 'the terms that accounts accept',
  }),
};

/** Every variable, with its default and what it is. The name in the environment is the key. */
export const variables = z.object({
  ...listening,
  ...embedded,
  ...cluster,
  ...logTopic,
  ...kafkaAccess,
  ...process,
  ...secrets,
  ...mails,
  ...signIn,
  ...push,
  ...retention,
  ...limits,
  ...watching,
  ...tracing,
  ...terms,
});
export type Variables = z.infer<typeof variables>;

/** What an operator is told of a variable. */
export interface VariableRow extends Told {
  readonly name: string;
  /** As it would be set; undefined where nothing is. */
  readonly byDefault: string | undefined;
}

/** All variables as they are told of, under the headings of `.env.example`. */
export const variableGroups: readonly { readonly heading: string; readonly rows: readonly VariableRow[] }[] = [
  { heading: 'Where it listens, and where others reach it', rows: rowsOf(listening) },
  { heading: 'The embedded engine: one file in this directory', rows: rowsOf(embedded) },
  { heading: 'A cluster: all three URLs, or none of them', rows: rowsOf(cluster) },
  { heading: "The log's topic; the numbers count when it is made", rows: rowsOf(logTopic) },
  { heading: 'Kafka by TLS, and a login to it: plain, scram-sha-256 or scram-sha-512', rows: rowsOf(kafkaAccess) },
  { heading: 'What `npm start` runs in this process', rows: rowsOf(process) },
  {
    heading: 'Secrets. JWT_SECRET is required for a cluster, for example from: openssl rand -base64 48',
    rows: rowsOf(secrets),
  },
  { heading: 'Mails. Without SMTP_URL they become files in DATA_DIR/mail', rows: rowsOf(mails) },
  { heading: 'Sign-in with Google and Apple', rows: rowsOf(signIn) },
  { heading: 'Push through Apple, Google and Expo', rows: rowsOf(push) },
  { heading: 'What is removed, and when', rows: rowsOf(retention) },
  { heading: 'Limits and origins', rows: rowsOf(limits) },
  { heading: 'Logs, health and metrics', rows: rowsOf(watching) },
  { heading: 'Traces, by OpenTelemetry', rows: rowsOf(tracing) },
  { heading: 'The terms that accounts accept', rows: rowsOf(terms) },
];

function rowsOf(group: Readonly<Record<string, z.ZodType>>): VariableRow[] {
  return Object.entries(group).map(([name, schema]) => ({
    name,
    byDefault: asText(schema.parse(undefined)),
    ...tellings.get(schema)!,
  }));
}

/** A value in the form in which it is set; undefined for none. */
function asText(value: unknown): string | undefined {
  if (value === undefined || value === '') return undefined;
  if (typeof value === 'boolean') return value ? 'on' : 'off';
  return Array.isArray(value) ? value.join(',') : String(value);
}
