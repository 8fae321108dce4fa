import { existsSync, readFileSync } from 'node:fs';
import { parseEnv } from 'node:util';
import { z } from 'zod';
import { readArchive, type ArchiveConfig } from './archive-variables.ts';
import { splitList } from './split-list.ts';
import { vapidPublicKeyOf } from './vapid-keys.ts';
import { variableGroups, variables, type saslMechanisms, type Variables } from './variables.ts';

/** Whether an admin token is short enough to guess, which causes a warning, or an error in production. */
export const isShortAdminToken = (token: string | undefined): boolean => token !== undefined && token.length < 16;

/** All faults of the configuration, as text for the operator. */
export class ConfigError extends Error {
  /** One sentence per fault. */
  readonly faults: readonly string[];

  constructor(faults: readonly string[]) {
    super(`The configuration is invalid:\n${faults.map((fault) => `  ${fault}`).join('\n')}`);
    this.name = 'ConfigError';
    this.faults = faults;
  }
}

/** The names of all variables. */
export const variableNames: readonly string[] = Object.keys(variables.shape);

/**
 * Settings of encrypted connections. `ca` contains PEM certificates for brokers without a publicly trusted certificate.
 */
export interface KafkaTls {
  readonly ca?: string;
}

export interface KafkaSasl {
  readonly mechanism: (typeof saslMechanisms)[number];
  readonly username: string;
  readonly password: string;
}

/** Connection settings of the cluster engines. */
export interface ClusterConfig {
  readonly kafkaBrokers: readonly string[];
  /** Undefined if not encrypted. */
  readonly kafkaTls: KafkaTls | undefined;
  /** Undefined if brokers require no login. */
  readonly kafkaSasl: KafkaSasl | undefined;
  readonly mongoUrl: string;
  readonly redisUrl: string;
}

/** Settings for pushes through APNs. */
export interface ApnsConfig {
  /** The contents of the `.p8` key file. */
  readonly key: string;
  readonly keyId: string;
  readonly teamId: string;
  readonly bundleId: string;
  /** Undefined for Apple's server. */
  readonly url: string | undefined;
  /** PEM certificates, for a simulator; undefined for public authorities. */
  readonly ca: string | undefined;
}

/** Settings for pushes to browsers. */
export interface WebPushConfig {
  /** Undefined if none are set: an embedded installation then generates them in DATA_DIR. */
  readonly keys: { readonly publicKey: string; readonly privateKey: string | undefined } | undefined;
  /** `mailto:` or `https:` address of the operator. */
  readonly subject: string;
  /** PEM certificates that are trusted besides public authorities. */
  readonly ca: string | undefined;
}

/** The fields used from a Google service account file. */
const fcmServiceAccount = z.object({
  type: z.literal('service_account'),
  project_id: z.string().min(1),
  private_key: z.string().includes('-----BEGIN PRIVATE KEY-----'),
  client_email: z.string().min(1),
  token_uri: z.url(),
});
export type FcmServiceAccount = z.infer<typeof fcmServiceAccount>;

/** Variables that Config contains in parsed form. */
const parsedVariables = [
  'KAFKA_BROKERS',
  'KAFKA_TLS',
  'KAFKA_TLS_CA_FILE',
  'KAFKA_SASL_MECHANISM',
  'KAFKA_SASL_USERNAME',
  'KAFKA_SASL_PASSWORD',
  'MONGO_URL',
  'REDIS_URL',
  'JWT_SECRET',
  'VAPID_PUBLIC_KEY',
  'VAPID_PRIVATE_KEY',
  'VAPID_SUBJECT',
  'WEB_PUSH_CA_FILE',
  'ARCHIVE_URL',
  'ARCHIVE_S3_ENDPOINT',
  'ARCHIVE_S3_REGION',
] as const;
type UnparsedVariables = Omit<Variables, (typeof parsedVariables)[number]>;

/** The parsed configuration. Components pick the fields that they need. */
export interface Config extends Omit<UnparsedVariables, 'BASE_URL' | 'APP_URL'> {
  /** Undefined if the installation is embedded. */
  readonly cluster: ClusterConfig | undefined;
  /** Undefined if pushes to `ios` devices are off. */
  readonly apns: ApnsConfig | undefined;
  /** Undefined if pushes to `android` devices are off. */
  readonly fcmServiceAccount: FcmServiceAccount | undefined;
  readonly webPush: WebPushConfig;
  /** Undefined if retention removes messages without archiving them. */
  readonly archive: ArchiveConfig | undefined;
  /** The public URL of the API; undefined to derive it from the listening address. */
  readonly BASE_URL: string | undefined;
  readonly APP_URL: string | undefined;
  /**
   * The first secret signs, all of them verify. Undefined if none is set: an embedded installation then generates one
   * in DATA_DIR, and in a cluster only processes without the API may lack it.
   */
  readonly jwtSecrets: readonly string[] | undefined;
}

/**
 * Reads the configuration from the environment and from `.env` in the working directory. The environment takes
 * precedence; an empty variable counts as not set. `role` is the only role of the process; without it, ROLES applies.
 * Throws ConfigError with all faults.
 */
export function loadConfig(environment: NodeJS.ProcessEnv, envFile = '.env', role?: string): Config {
  const merged = setIn({ ...readEnvFile(envFile), ...environment });
  const parsed = variables.safeParse(merged);
  const faults = parsed.success ? [] : parsed.error.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`);
  const cluster = readCluster(merged, parsed.data, faults);
  checkGoogle(merged, faults);
  if (merged['NODE_ENV'] === 'production' && isShortAdminToken(merged['ADMIN_TOKEN']))
    faults.push('ADMIN_TOKEN: needs at least 16 characters if NODE_ENV is production');
  const apns = readApns(merged, faults);
  const fcmAccount = readFcm(merged['FCM_SERVICE_ACCOUNT_FILE'], faults);
  // Only the API signs logins, so the other services of a cluster need no secret.
  const isApi = role === undefined ? (parsed.data?.ROLES.includes('api') ?? true) : role === 'api';
  const jwtSecrets = readJwtSecrets(merged['JWT_SECRET'], cluster !== undefined && isApi, faults);
  const isNotifier = role === undefined ? (parsed.data?.ROLES.includes('notifier') ?? true) : role === 'notifier';
  const webPush = readWebPush(merged, { isNotifier, mailFrom: parsed.data?.MAIL_FROM }, faults);
  const archive = readArchive(merged, faults);
  if (!parsed.success || faults.length > 0) throw new ConfigError(faults);
  const { BASE_URL, APP_URL, ...rest } = omitParsed(parsed.data);
  return {
    ...rest,
    BASE_URL: BASE_URL?.replace(/\/$/, ''),
    APP_URL: APP_URL?.replace(/\/$/, ''),
    cluster,
    apns,
    fcmServiceAccount: fcmAccount,
    webPush,
    archive,
    jwtSecrets,
  };
}

function readEnvFile(envFile: string): NodeJS.ProcessEnv {
  return existsSync(envFile) ? parseEnv(readFileSync(envFile, 'utf8')) : {};
}

function setIn(variables: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(variables).filter(([, value]) => value !== undefined && value !== ''));
}

/** A variable for display. */
export interface ShownVariable {
  readonly name: string;
  /** The configured or default value. Secrets and passwords in URLs are `***`. Null if not set. */
  readonly value: string | null;
  readonly origin: 'environment' | '.env' | 'default';
}

/** Returns every variable with its value and source, without secrets. Also works for an invalid configuration. */
export function showConfig(environment: NodeJS.ProcessEnv, envFile = '.env'): ShownVariable[] {
  const set = setIn({ ...readEnvFile(envFile), ...environment });
  return variableGroups
    .flatMap(({ rows }) => rows)
    .map(({ name, defaultValue, isSecret }) => {
      const value = set[name] ?? defaultValue ?? null;
      const origin = set[name] === undefined ? 'default' : environment[name] === undefined ? '.env' : 'environment';
      return {
        name,
        value: isSecret === true && value !== null ? '***' : (value?.replace(urlPassword, '//$1:***@') ?? null),
        origin,
      };
    });
}

const urlPassword = /\/\/([^:@/]*):.*@/;

function omitParsed(all: Variables): UnparsedVariables {
  const parsedNames: readonly string[] = parsedVariables;
  return Object.fromEntries(Object.entries(all).filter(([name]) => !parsedNames.includes(name))) as UnparsedVariables;
}

/** Checks the cluster variables even if other variables are invalid, in which case `parsed` is undefined. */
function readCluster(
  env: NodeJS.ProcessEnv,
  parsed: Variables | undefined,
  faults: string[],
): ClusterConfig | undefined {
  const names = ['KAFKA_BROKERS', 'MONGO_URL', 'REDIS_URL'];
  const missing = names.filter((name) => env[name] === undefined);
  if (missing.length === names.length) return undefined;
  if (missing.length > 0) {
    faults.push(
      `${missing.join(' and ')} missing: set all of ${names.join(', ')} for a cluster, or none for one process on one file`,
    );
    return undefined;
  }
  return {
    kafkaBrokers: splitList(env['KAFKA_BROKERS']!),
    kafkaTls: readKafkaTls(env['KAFKA_TLS_CA_FILE'], parsed?.KAFKA_TLS ?? true, faults),
    kafkaSasl: readKafkaSasl(env, parsed?.KAFKA_SASL_MECHANISM, faults),
    mongoUrl: env['MONGO_URL']!,
    redisUrl: env['REDIS_URL']!,
  };
}

function readKafkaTls(caFile: string | undefined, isOn: boolean, faults: string[]): KafkaTls | undefined {
  if (caFile === undefined) return isOn ? {} : undefined;
  if (!isOn) faults.push('KAFKA_TLS_CA_FILE requires encrypted connections: set KAFKA_TLS=on');
  const ca = readPem({ variable: 'KAFKA_TLS_CA_FILE', file: caFile, contents: 'CERTIFICATE' }, faults);
  return ca === undefined ? undefined : { ca };
}

/** Returns the contents of a PEM file; adds a fault and returns undefined if it cannot be used. */
function readPem(
  from: { variable: string; file: string; contents: 'CERTIFICATE' | 'PRIVATE KEY' },
  faults: string[],
): string | undefined {
  try {
    const text = readFileSync(from.file, 'utf8');
    if (text.includes(`-----BEGIN ${from.contents}-----`)) return text;
    faults.push(`${from.variable}: ${from.file} does not contain a PEM ${from.contents.toLowerCase()}`);
  } catch (error) {
    faults.push(`${from.variable}: ${from.file} cannot be read (${(error as NodeJS.ErrnoException).code})`);
  }
  return undefined;
}

function readApns(env: NodeJS.ProcessEnv, faults: string[]): ApnsConfig | undefined {
  const names = ['APNS_KEY_FILE', 'APNS_KEY_ID', 'APNS_TEAM_ID', 'APNS_BUNDLE_ID'];
  const missing = names.filter((name) => env[name] === undefined);
  if (missing.length === names.length) return undefined;
  if (missing.length > 0) {
    faults.push(
      `${missing.join(' and ')} missing: set all of ${names.join(', ')} to push to ios devices, or none of them`,
    );
    return undefined;
  }
  const key = readPem({ variable: 'APNS_KEY_FILE', file: env['APNS_KEY_FILE']!, contents: 'PRIVATE KEY' }, faults);
  const caFile = env['APNS_CA_FILE'];
  const ca =
    caFile === undefined
      ? undefined
      : readPem({ variable: 'APNS_CA_FILE', file: caFile, contents: 'CERTIFICATE' }, faults);
  if (key === undefined) return undefined;
  return {
    key,
    keyId: env['APNS_KEY_ID']!,
    teamId: env['APNS_TEAM_ID']!,
    bundleId: env['APNS_BUNDLE_ID']!,
    url: env['APNS_URL'],
    ca,
  };
}

function readFcm(file: string | undefined, faults: string[]): FcmServiceAccount | undefined {
  if (file === undefined) return undefined;
  try {
    const { data } = fcmServiceAccount.safeParse(JSON.parse(readFileSync(file, 'utf8')));
    if (data !== undefined) return data;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== undefined) {
      faults.push(`FCM_SERVICE_ACCOUNT_FILE: ${file} cannot be read (${code})`);
      return undefined;
    }
  }
  faults.push(
    `FCM_SERVICE_ACCOUNT_FILE: ${file} is not a service account key in JSON; create one in the Firebase console`,
  );
  return undefined;
}

function readWebPush(
  env: NodeJS.ProcessEnv,
  { isNotifier, mailFrom = '' }: { isNotifier: boolean; mailFrom: string | undefined },
  faults: string[],
): WebPushConfig {
  const [publicKey, privateKey, caFile] = [env['VAPID_PUBLIC_KEY'], env['VAPID_PRIVATE_KEY'], env['WEB_PUSH_CA_FILE']];
  if (publicKey === undefined && privateKey !== undefined)
    faults.push('VAPID_PUBLIC_KEY missing: set both keys of `npx web-push generate-vapid-keys`, or neither');
  if (publicKey !== undefined && privateKey === undefined && isNotifier)
    faults.push('VAPID_PRIVATE_KEY missing: the notifier signs pushes with it; only the other services do without');
  if (publicKey !== undefined && privateKey !== undefined && !isVapidPair(publicKey, privateKey))
    faults.push('VAPID_PRIVATE_KEY: is not the private key of VAPID_PUBLIC_KEY');
  const ofCa = { variable: 'WEB_PUSH_CA_FILE', contents: 'CERTIFICATE' } as const;
  return {
    keys: publicKey === undefined ? undefined : { publicKey, privateKey },
    subject: env['VAPID_SUBJECT'] ?? vapidSubject(env['BASE_URL'], mailFrom),
    ca: caFile === undefined ? undefined : readPem({ ...ofCa, file: caFile }, faults),
  };
}

function isVapidPair(publicKey: string, privateKey: string): boolean {
  try {
    return vapidPublicKeyOf(privateKey) === publicKey;
  } catch {
    return false;
  }
}

/** Push services contact the operator there if the pushes cause trouble. */
function vapidSubject(baseUrl: string | undefined, mailFrom: string): string {
  if (baseUrl?.startsWith('https://') === true) return baseUrl;
  return `mailto:${/<([^>]+)>/.exec(mailFrom)?.[1] ?? mailFrom}`;
}

function readKafkaSasl(
  env: NodeJS.ProcessEnv,
  mechanism: KafkaSasl['mechanism'] | undefined,
  faults: string[],
): KafkaSasl | undefined {
  const names = ['KAFKA_SASL_MECHANISM', 'KAFKA_SASL_USERNAME', 'KAFKA_SASL_PASSWORD'];
  const missing = names.filter((name) => env[name] === undefined);
  if (missing.length === names.length) return undefined;
  if (missing.length > 0) faults.push(`${missing.join(' and ')} missing: set all of ${names.join(', ')}, or none`);
  if (missing.length > 0 || mechanism === undefined) return undefined;
  return { mechanism, username: env['KAFKA_SASL_USERNAME']!, password: env['KAFKA_SASL_PASSWORD']! };
}

function checkGoogle(env: NodeJS.ProcessEnv, faults: string[]): void {
  const missing = ['GOOGLE_CLIENT_ID', 'GOOGLE_CLIENT_SECRET'].filter((name) => env[name] === undefined);
  if (missing.length === 1)
    faults.push(
      `${missing[0]} missing: set both GOOGLE_CLIENT_ID and GOOGLE_CLIENT_SECRET for Google login, or neither`,
    );
}

function readJwtSecrets(text: string | undefined, isRequired: boolean, faults: string[]): string[] | undefined {
  if (text === undefined) {
    if (isRequired)
      faults.push(
        'JWT_SECRET missing: all API nodes of a cluster need the same one, for example from `openssl rand -base64 32`',
      );
    return undefined;
  }
  const secrets = splitList(text);
  if (secrets.length === 0 || secrets.some((secret) => Buffer.byteLength(secret) < 32)) {
    faults.push('JWT_SECRET: each secret needs at least 32 bytes, for example from `openssl rand -base64 32`');
  }
  return secrets;
}
