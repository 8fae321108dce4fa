import { clockFindings, findingsOf, type Finding, type Findings } from '../../../platform/finding.ts';
import type { Logger } from '../../../platform/logger.ts';
import { RedisConnection } from './redis-connection.ts';

const timeoutMs = 5_000;
/** The oldest version that BullMQ supports. */
const versionMin = [6, 2] as const;

/** Checks the version of Redis and the settings that protect jobs. */
export async function inspectRedis(url: string, log: Logger): Promise<Finding[]> {
  const findings = findingsOf('Redis');
  const connection = new RedisConnection({ url, name: 'tocsin-doctor', part: 'Redis', log });
  try {
    await connection.waitUntilUp(timeoutMs);
    if (!connection.isUp)
      return [
        findings.fault(
          `not usable (${connection.lastError?.message ?? 'no response'}): check REDIS_URL, its password, and rediss:// for TLS`,
        ),
      ];
    const before = Date.now();
    const [seconds, microseconds] = await connection.run((redis) => redis.time());
    const after = Date.now();
    const version = /redis_version:(\S+)/.exec(await connection.run((redis) => redis.info('server')))?.[1] ?? 'unknown';
    return [
      isOld(version)
        ? findings.fault(`version ${version} is too old: ${versionMin.join('.')} or later is required`)
        : findings.ok(`version ${version}`),
      ...redisSettingFindings(findings, await readSettings(connection)),
      ...clockFindings(findings, Number(seconds) * 1_000 + Math.floor(Number(microseconds) / 1_000), [before, after]),
    ];
  } catch (error) {
    return [findings.fault(`no response (${(error as Error).message})`)];
  } finally {
    connection.close();
  }
}

function isOld(version: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  return major < versionMin[0] || (major === versionMin[0] && minor < versionMin[1]);
}

interface RedisSettings {
  /** Undefined if they cannot be read, as in some hosted services. */
  readonly policy: string | undefined;
  readonly appendOnly: string | undefined;
}

async function readSettings(connection: RedisConnection): Promise<RedisSettings> {
  const read = (name: string) =>
    connection
      .run((redis) => redis.config('GET', name))
      .then(
        (answer) => (answer as string[])[1],
        () => undefined,
      );
  return { policy: await read('maxmemory-policy'), appendOnly: await read('appendonly') };
}

/** Settings that can lose jobs. */
export function redisSettingFindings(findings: Findings, { policy, appendOnly }: RedisSettings): Finding[] {
  if (policy === undefined)
    return [
      findings.warning(
        'its settings cannot be read: make sure that maxmemory-policy is noeviction and appendonly is yes',
      ),
    ];
  return [
    ...(policy === 'noeviction'
      ? []
      : [findings.fault(`maxmemory-policy is ${policy}: set noeviction, otherwise jobs are lost if memory is short`)]),
    ...(appendOnly === 'yes'
      ? []
      : [findings.warning('appendonly is no: set yes, otherwise a restart loses queued pushes and emails')]),
  ];
}
