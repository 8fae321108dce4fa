import { clockFindings, findingsOf, type Finding } from '../../../platform/finding.ts';
import type { Logger } from '../../../platform/logger.ts';
import { openMongo } from './mongo-connection.ts';

/** The oldest whose transactions and indexes are used here. */
const majorMin = 5;

/** Asks MongoDB what it is. */
export async function inspectMongo(url: string, log: Logger): Promise<Finding[]> {
  const found = findingsOf('MongoDB');
  const connection = await openMongo(url, { log }).catch((error: unknown) => error as Error);
  if (connection instanceof Error) {
    return [
      found.fault(
        `it cannot be used (${reasonOf(connection)}): check MONGO_URL, that a primary is there, and that this machine reaches the members by the names that they have in the replica set`,
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
        ? found.fault(
            'it is no replica set, so that it has no transactions: start it with --replSet and run rs.initiate()',
          )
        : found.ok(`version ${version}, replica set ${hello.setName} of ${members} member${members === 1 ? '' : 's'}`),
      ...(members === 1
        ? [
            found.warning(
              'the replica set has one member: nobody takes over when it fails, and what its disk loses is lost',
            ),
          ]
        : []),
      ...(Number.parseInt(version, 10) < majorMin
        ? [found.fault(`version ${version} is too old: ${majorMin}.0 or later is needed`)]
        : []),
      ...clockFindings(found, hello.localTime.getTime(), [before, after]),
    ];
  } catch (error) {
    return [found.fault(`it does not answer (${(error as Error).message})`)];
  } finally {
    await connection.close();
  }
}

/** The driver's own words: what is told to users of the API hides them. */
function reasonOf({ message, cause }: Error): string {
  return cause instanceof Error ? cause.message : message;
}
