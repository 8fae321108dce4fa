import { clockFindings, findingsOf, type Finding } from '../../../platform/finding.ts';
import type { Logger } from '../../../platform/logger.ts';
import { openMongo } from './mongo-connection.ts';

/** The oldest version with the required transactions and indexes. */
const majorMin = 5;

/** Checks MongoDB's version and topology. */
export async function inspectMongo(url: string, log: Logger): Promise<Finding[]> {
  const findings = findingsOf('MongoDB');
  const connection = await openMongo(url, { log }).catch((error: unknown) => error as Error);
  if (connection instanceof Error) {
    return [
      findings.fault(
        `not usable (${reasonOf(connection)}): check MONGO_URL, that a primary exists, and that this machine can resolve and reach the member names of the replica set`,
      ),
    ];
  }
  try {
    const admin = connection.getClient().db().admin();
    const before = Date.now();
    const hello = (await admin.command({ hello: 1 })) as { setName?: string; hosts?: string[]; localTime: Date };
    const after = Date.now();
    const { version } = (await admin.command({ buildInfo: 1 })) as { version: string };
    const members = hello.hosts?.length ?? 0;
    return [
      hello.setName === undefined
        ? findings.fault(
            'not a replica set, so transactions are missing: start it with --replSet and run rs.initiate()',
          )
        : findings.ok(
            `version ${version}, replica set ${hello.setName} of ${members} member${members === 1 ? '' : 's'}`,
          ),
      ...(members === 1
        ? [findings.warning('the replica set has one member: no failover is possible, and a failed disk loses data')]
        : []),
      ...(Number.parseInt(version, 10) < majorMin
        ? [findings.fault(`version ${version} is too old: ${majorMin}.0 or later is required`)]
        : []),
      ...clockFindings(findings, hello.localTime.getTime(), [before, after]),
    ];
  } catch (error) {
    return [findings.fault(`no response (${(error as Error).message})`)];
  } finally {
    await connection.close();
  }
}

/** The driver's error message, which API responses do not contain. */
function reasonOf({ message, cause }: Error): string {
  return cause instanceof Error ? cause.message : message;
}
