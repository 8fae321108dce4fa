import { existsSync, readFileSync } from 'node:fs';
import { parseEnv } from 'node:util';
import { z } from 'zod';
import { list, variableGroups, variables, type saslMechanisms, type Variables } from './variables.ts';

/** Whether an operator's token is one that may be guessed: whoever runs the installation is told, and in production it is refused. */
export const isShortAdminToken = (token: string | undefined): boolean => token !== undefined && token.length < 16;

/** What is wrong with the environment, all of it at once, written for whoever set it. */
export class ConfigError extends Error {
  /** A sentence each. */
  readonly faults: readonly string[];

  constructor(faults: readonly string[]) {
    super(`The configuration cannot be used:\n${faults.map((fault) => `  ${fault}`).join('\n')}`);
    this.name = 'ConfigError';
    this.faults = faults;
  }
}

/** The names of all variables. */
export const variableNames: readonly string[] = Object.keys(variables.shape);

/** Encrypted connections; `ca` is a PEM text for brokers whose certificate no public authority signed. */
export interface KafkaTls {
  readonly ca?: string;
}

export interface KafkaSasl {
  readonly mechanism: (typeof saslMechanisms)[number];
  readonly username: string;
  readonly password: string;
}

/** How to reach the three stores of cluster mode. */
export interface ClusterConfig {
  readonly kafkaBrokers: readonly string[];
  /** Undefined: not encrypted. */
  readonly kafkaTls: KafkaTls | undefined;
  /** Undefined: nobody is asked who they are. */
  readonly kafkaSasl: KafkaSasl | undefined;
  readonly mongoUrl: string;
  readonly redisUrl: string;
}

/** How to push through Apple's service. */
export interface ApnsConfig {
  /** The `.p8` key's text. */
  readonly key: string;
  readonly keyId: string;
  readonly teamId: string;
  readonly bundleId: string;
  /** Undefined: Apple's. */
  readonly url: string | undefined;
  /** A PEM text, for a simulator; undefined: the public authorities. */
  readonly ca: string | undefined;
}

/** What of the file of a Google service account is read. */
const fcmServiceAccount = z.object({
  type: z.literal('service_account'),
  project_id: z.string().min(1),
  private_key: z.string().includes('-----BEGIN PRIVATE KEY-----'),
  client_email: z.string().min(1),
  token_uri: z.url(),
});
export type FcmServiceAccount = z.infer<typeof fcmServiceAccount>;

/** What `cluster` and `jwtSecrets` hold, in the form that it is used in. */
const heldElsewhere = [
  'KAFKA_BROKERS',
  'KAFKA_TLS',
  'KAFKA_TLS_CA_FILE',
  'KAFKA_SASL_MECHANISM',
  'KAFKA_SASL_USERNAME',
  'KAFKA_SASL_PASSWORD',
  'MONGO_URL',
  'REDIS_URL',
  'JWT_SECRET',
] as const;
type HeldAsItIs = Omit<Variables, (typeof heldElsewhere)[number]>;

/** The whole configuration, parsed once; every part takes from it what it needs. */
export interface Config extends Omit<HeldAsItIs, 'BASE_URL' | 'APP_URL'> {
  /** Undefined when the installation is embedded. */
  readonly cluster: ClusterConfig | undefined;
  /** Undefined: nothing is pushed to devices of the platform `ios`. */
  readonly apns: ApnsConfig | undefined;
  /** Undefined: nothing is pushed to devices of the platform `android`. */
  readonly fcmServiceAccount: FcmServiceAccount | undefined;
  /** Where the public reaches the API; undefined when it is to be made from the address that is listened on. */
  readonly BASE_URL: string | undefined;
  readonly APP_URL: string | undefined;
  /** The first signs, all verify. Undefined when embedded and not set: a secret is made and kept in DATA_DIR. */
  readonly jwtSecrets: readonly string[] | undefined;
}

/**
 * Reads the configuration from the environment, over a `.env` file in the working directory (the environment wins;
 * an empty variable counts as not set). Throws ConfigError with every fault at once.
 */
export function loadConfig(environment: NodeJS.ProcessEnv, envFile = '.env'): Config {
  const merged = setIn({ ...readEnvFile(envFile), ...environment });
  const parsed = variables.safeParse(merged);
  const faults = parsed.success ? [] : parsed.error.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`);
  const cluster = readCluster(merged, parsed.data, faults);
  checkGoogle(merged, faults);
  if (merged['NODE_ENV'] === 'production' && isShortAdminToken(merged['ADMIN_TOKEN']))
    faults.push('ADMIN_TOKEN: at least 16 characters where NODE_ENV is production');
  const apns = readApns(merged, faults);
  const fcmAccount = readFcm(merged['FCM_SERVICE_ACCOUNT_FILE'], faults);
  const jwtSecrets = readJwtSecrets(merged['JWT_SECRET'], cluster !== undefined, faults);
  if (!parsed.success || faults.length > 0) throw new ConfigError(faults);
  const { BASE_URL, APP_URL, ...rest } = heldAsItIs(parsed.data);
  return {
    ...rest,
    BASE_URL: BASE_URL?.replace(/\/$/, ''),
    APP_URL: APP_URL?.replace(/\/$/, ''),
    cluster,
    apns,
    fcmServiceAccount: fcmAccount,
    jwtSecrets,
  };
}

function readEnvFile(envFile: string): NodeJS.ProcessEnv {
  return existsSync(envFile) ? parseEnv(readFileSync(envFile, 'utf8')) : {};
}

function setIn(variables: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(variables).filter(([, value]) => value !== undefined && value !== ''));
}

/** A variable as it stands, to be shown. */
export interface ShownVariable {
  readonly name: string;
  /** As it is set or by default; of a secret, and of a password in a URL, only `***`. Null where nothing is set. */
  readonly value: string | null;
  readonly origin: 'environment' | '.env' | 'default';
}

/** Every variable with its value and where that comes from, without secrets; also of a configuration that cannot be used. */
export function showConfig(environment: NodeJS.ProcessEnv, envFile = '.env'): ShownVariable[] {
  const set = setIn({ ...readEnvFile(envFile), ...environment });
  return variableGroups
    .flatMap(({ rows }) => rows)
    .map(({ name, byDefault, isSecret }) => {
      const value = set[name] ?? byDefault ?? null;
      const origin = set[name] === undefined ? 'default' : environment[name] === undefined ? '.env' : 'environment';
      return {
        name,
        value: isSecret === true && value !== null ? '***' : (value?.replace(urlPassword, '//$1:***@') ?? null),
        origin,
      };
    });
}

const urlPassword = /\/\/([^:@/]*):.*@/;

function heldAsItIs(all: Variables): HeldAsItIs {
  const elsewhere: readonly string[] = heldElsewhere;
  return Object.fromEntries(Object.entries(all).filter(([name]) => !elsewhere.includes(name))) as HeldAsItIs;
}

/** `parsed` is undefined when something else is wrong; the faults of this part are told all the same. */
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
    kafkaBrokers: list(env['KAFKA_BROKERS']!),
    kafkaTls: readKafkaTls(env['KAFKA_TLS_CA_FILE'], parsed?.KAFKA_TLS ?? true, faults),
    kafkaSasl: readKafkaSasl(env, parsed?.KAFKA_SASL_MECHANISM, faults),
    mongoUrl: env['MONGO_URL']!,
    redisUrl: env['REDIS_URL']!,
  };
}

function readKafkaTls(caFile: string | undefined, isOn: boolean, faults: string[]): KafkaTls | undefined {
  if (caFile === undefined) return isOn ? {} : undefined;
  if (!isOn) faults.push('KAFKA_TLS_CA_FILE is for encrypted connections: set KAFKA_TLS=on with it');
  const ca = readPem({ variable: 'KAFKA_TLS_CA_FILE', file: caFile, holds: 'CERTIFICATE' }, faults);
  return ca === undefined ? undefined : { ca };
}

/** The text of a file that holds what it should in PEM form; undefined, with a fault, for any other. */
function readPem(
  from: { variable: string; file: string; holds: 'CERTIFICATE' | 'PRIVATE KEY' },
  faults: string[],
): string | undefined {
  try {
    const text = readFileSync(from.file, 'utf8');
    if (text.includes(`-----BEGIN ${from.holds}-----`)) return text;
    faults.push(`${from.variable}: ${from.file} holds no ${from.holds.toLowerCase()} in PEM form`);
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
    faults.push(`${missing.join(' and ')} missing: set all of ${names.join(', ')} to push to ios devices, or none`);
    return undefined;
  }
  const key = readPem({ variable: 'APNS_KEY_FILE', file: env['APNS_KEY_FILE']!, holds: 'PRIVATE KEY' }, faults);
  const caFile = env['APNS_CA_FILE'];
  const ca =
    caFile === undefined
      ? undefined
      : readPem({ variable: 'APNS_CA_FILE', file: caFile, holds: 'CERTIFICATE' }, faults);
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
    `FCM_SERVICE_ACCOUNT_FILE: ${file} is not the JSON key of a service account, as the Firebase console gives it`,
  );
  return undefined;
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
      `${missing[0]} missing: signing in with Google needs GOOGLE_CLIENT_ID and GOOGLE_CLIENT_SECRET, or neither`,
    );
}

function readJwtSecrets(text: string | undefined, isCluster: boolean, faults: string[]): string[] | undefined {
  if (text === undefined) {
    if (isCluster)
      faults.push(
        'JWT_SECRET missing: all nodes of a cluster need the same one, for example from `openssl rand -base64 32`',
      );
    return undefined;
  }
  const secrets = list(text);
  if (secrets.length === 0 || secrets.some((secret) => Buffer.byteLength(secret) < 32)) {
    faults.push('JWT_SECRET: each secret needs at least 32 bytes, for example from `openssl rand -base64 32`');
  }
  return secrets;
}
