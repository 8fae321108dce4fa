import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from '@jest/globals';
import { parse } from 'yaml';
import { loadConfig, variableNames } from '@tocsin/shared/platform/load-config.ts';
import { variableGroups } from '@tocsin/shared/platform/variables.ts';
import { envExample, withConfigurationTable } from '../tools/docs/render-configuration.ts';

const root = path.join(import.meta.dirname, '..');
const read = (file: string) => readFileSync(path.join(root, file), 'utf8');
const sorted = (names: Iterable<string>) => [...names].sort();

/** The environment variables that Tocsin promises to support. */
const promised = [
  'HOST',
  'PORT',
  'BASE_URL',
  'APP_URL',
  'DATA_DIR',
  'KAFKA_BROKERS',
  'MONGO_URL',
  'REDIS_URL',
  'KAFKA_TOPIC',
  'KAFKA_PARTITIONS',
  'KAFKA_REPLICATION',
  'KAFKA_RETENTION_DAYS',
  'KAFKA_TLS',
  'KAFKA_TLS_CA_FILE',
  'KAFKA_SASL_MECHANISM',
  'KAFKA_SASL_USERNAME',
  'KAFKA_SASL_PASSWORD',
  'ROLES',
  'JWT_SECRET',
  'ADMIN_TOKEN',
  'SMTP_URL',
  'MAIL_FROM',
  'GOOGLE_CLIENT_ID',
  'GOOGLE_CLIENT_SECRET',
  'GOOGLE_ISSUER',
  'APPLE_CLIENT_ID',
  'APPLE_ISSUER',
  'APPLE_JWKS_URL',
  'APNS_KEY_FILE',
  'APNS_KEY_ID',
  'APNS_TEAM_ID',
  'APNS_BUNDLE_ID',
  'APNS_URL',
  'APNS_CA_FILE',
  'APNS_CRITICAL',
  'FCM_SERVICE_ACCOUNT_FILE',
  'FCM_URL',
  'EXPO_ACCESS_TOKEN',
  'EXPO_URL',
  'VAPID_PUBLIC_KEY',
  'VAPID_PRIVATE_KEY',
  'VAPID_SUBJECT',
  'WEB_PUSH_HOSTS',
  'WEB_PUSH_CA_FILE',
  'EXPO_RECEIPT_SECONDS',
  'PUSH_RETRY_SECONDS',
  'RETENTION_SCHEDULE',
  'RETENTION_PROTECT_CONSUMERS',
  'ARCHIVE_URL',
  'ARCHIVE_S3_ENDPOINT',
  'ARCHIVE_S3_REGION',
  'ERASURE_SETTLE_SECONDS',
  'TEAM_GRACE_DAYS',
  'RETENTION_DAYS_FREE',
  'RETENTION_DAYS_ESSENTIALS',
  'RETENTION_DAYS_TEAM',
  'ARCHIVE_DEFAULT',
  'RATE_LIMITS',
  'MAX_CONNECTIONS',
  'MAX_CONNECTIONS_PER_ADDRESS',
  'MAX_REQUESTS_PER_MINUTE',
  'TRUST_PROXY',
  'CORS_ORIGINS',
  'SINKS_ALLOW_HTTP',
  'SINKS_ALLOW_ADDRESSES',
  'LOG_LEVEL',
  'TERMS_VERSION',
  'TEAM_REMOVAL_DAYS',
  'METRICS_PORT',
  'AUDIT_RETENTION_DAYS',
  'LOGIN_LIFETIME_DAYS',
  'SHUTDOWN_DELAY_SECONDS',
  'OTEL_EXPORTER_OTLP_ENDPOINT',
  'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT',
  'OTEL_TRACES_EXPORTER',
  'OTEL_SDK_DISABLED',
  'OTEL_EXPORTER_OTLP_PROTOCOL',
  'OTEL_EXPORTER_OTLP_TRACES_PROTOCOL',
  'OTEL_EXPORTER_OTLP_HEADERS',
  'OTEL_EXPORTER_OTLP_TRACES_HEADERS',
  'OTEL_TRACES_SAMPLER',
  'OTEL_TRACES_SAMPLER_ARG',
  'OTEL_SERVICE_NAME',
  'OTEL_RESOURCE_ATTRIBUTES',
];

/** Read by the library of the S3 driver. */
const ofAwsSdk = ['AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY', 'AWS_SESSION_TOKEN'];
/** Variables that containers set themselves. */
const ofContainers = ['HOST', 'PORT', 'DATA_DIR', 'ROLES'];

const configuration = read('docs/configuration.md');
const exampleLines = new Map(
  [...read('.env.example').matchAll(/^#([A-Z_]+)=(.*)$/gm)].map(([, name, value]) => [name!, value!]),
);

test('docs/configuration.md and .env.example match the output of npm run docs', () => {
  expect(configuration).toBe(withConfigurationTable(configuration));
  expect(read('.env.example')).toBe(envExample());
});

const composed = (
  parse(read('docker-compose.yml'), { merge: true }) as {
    services: Record<string, { environment: Record<string, string | null> }>;
  }
).services;
const environmentOf = (service: string) => composed[service]!.environment;

test('docker-compose.yml passes every variable that containers do not set themselves', () => {
  const passed = new Set(
    ['api', 'fanout', 'notifier', 'retention'].flatMap((name) => Object.keys(environmentOf(name))),
  );
  const own = variableNames.filter((name) => !ofContainers.includes(name));
  expect(sorted([...passed])).toEqual(sorted([...own, ...ofAwsSdk]));
});

test('docker-compose.yml passes a secret only to the service that uses it', () => {
  // `${NAME:+text}` passes only whether the variable is set.
  const isPassed = (value: string | null) => value === null || !/^\$\{\w+:\+[^}]*\}$/.test(value);
  const secretsOf = (service: string) =>
    Object.entries(environmentOf(service)).flatMap(([name, value]) =>
      isPassed(value) &&
      /^(JWT_SECRET|ADMIN_TOKEN|GOOGLE_CLIENT_SECRET|SMTP_URL|APNS_KEY_FILE|AWS_SECRET_ACCESS_KEY|FCM_SERVICE_ACCOUNT_FILE|EXPO_ACCESS_TOKEN|VAPID_PRIVATE_KEY)$/.test(
        name,
      )
        ? [name]
        : [],
    );
  expect(environmentOf('api')['SMTP_URL']).toBe('${SMTP_URL:+smtp://notifier.invalid}');
  expect(sorted(secretsOf('api'))).toEqual(['ADMIN_TOKEN', 'GOOGLE_CLIENT_SECRET', 'JWT_SECRET']);
  expect(sorted(secretsOf('notifier'))).toEqual([
    'APNS_KEY_FILE',
    'EXPO_ACCESS_TOKEN',
    'FCM_SERVICE_ACCOUNT_FILE',
    'SMTP_URL',
    'VAPID_PRIVATE_KEY',
  ]);
  expect([secretsOf('fanout'), secretsOf('retention')]).toEqual([[], ['AWS_SECRET_ACCESS_KEY']]);
});

test('every promised variable is read, and no other', () => {
  expect(sorted(variableNames)).toEqual(sorted(promised));
});

test('no secret has a default in the program, the example or a container', () => {
  const secrets = variableNames.filter((name) => /SECRET|TOKEN|PASSWORD|HEADERS|PRIVATE_KEY/.test(name));
  expect(secrets).toEqual(
    expect.arrayContaining([
      'JWT_SECRET',
      'ADMIN_TOKEN',
      'GOOGLE_CLIENT_SECRET',
      'EXPO_ACCESS_TOKEN',
      'VAPID_PRIVATE_KEY',
      'KAFKA_SASL_PASSWORD',
    ]),
  );
  const config: Record<string, unknown> = { ...loadConfig({}, '/nonexistent') };
  expect(secrets.filter((name) => config[name] !== undefined)).toEqual([]);
  expect(variableGroups.flatMap(({ rows }) => rows).flatMap(({ name, isSecret }) => (isSecret ? [name] : []))).toEqual(
    secrets,
  );
  expect(secrets.map((name) => [name, exampleLines.get(name)])).toEqual(secrets.map((name) => [name, '']));
  const values = Object.values(composed).flatMap(({ environment }) => Object.entries(environment ?? {}));
  // Each secret is either required or passed through.
  for (const name of secrets) {
    const given = values.filter(([key]) => key === name).map(([, value]) => value);
    expect(given.length).toBeGreaterThan(0);
    for (const value of given) expect(value ?? `\${${name}:?`).toMatch(`\${${name}:?`);
  }
});
