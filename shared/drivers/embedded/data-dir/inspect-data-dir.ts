import { accessSync, constants, existsSync, mkdirSync, statfsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { isPrivate } from '../../../platform/keep-private.ts';
import { findingsOf, type Finding, type Findings } from '../../../platform/finding.ts';
import { schemaVersionOf } from '../sqlite/migrations.ts';

const gibibyte = 2 ** 30;
const freeBytesMin = gibibyte;

/**
 * Checks the embedded engine's directory and file; a server may run. Creates a missing directory and changes nothing
 * else.
 */
export function inspectDataDir(
  dir: string,
  { fileName, schemaVersion }: { fileName: string; schemaVersion: number },
): Finding[] {
  const findings = findingsOf('DATA_DIR');
  try {
    mkdirSync(dir, { recursive: true, mode: 0o700 });
    accessSync(dir, constants.W_OK);
  } catch (error) {
    return [
      findings.fault(
        `${dir} is not writable (${(error as NodeJS.ErrnoException).code}): change its owner to the user that runs Tocsin, or set DATA_DIR to another directory`,
      ),
    ];
  }
  const { bavail, bsize } = statfsSync(dir);
  const free = bavail * bsize;
  const space = `${(free / gibibyte).toFixed(1)} GiB free`;
  return [
    free < freeBytesMin
      ? findings.warning(`${dir} has ${space}: publishes fail when the disk is full`)
      : findings.ok(`${dir} is writable, ${space}`),
    ...(isPrivate(dir)
      ? []
      : [findings.warning(`${dir} can be read by other users of this machine: run chmod 700 as its owner`)]),
    inspectFile(findings, join(dir, fileName), schemaVersion),
  ];
}

function inspectFile(findings: Findings, path: string, schemaVersion: number): Finding {
  if (!existsSync(path)) return findings.ok(`${path} will be created at the first start`);
  try {
    const db = new DatabaseSync(path, { readOnly: true, timeout: 5_000 });
    try {
      const version = schemaVersionOf(db);
      if (version > schemaVersion)
        return findings.fault(
          `${path} was written by a newer version of Tocsin (schema ${version}, this version supports ${schemaVersion}): use that version`,
        );
      return findings.ok(
        `${path} opens, ${(statSync(path).size / 2 ** 20).toFixed(0)} MiB${version < schemaVersion ? ', the next start migrates it to the latest schema' : ''}`,
      );
    } finally {
      db.close();
    }
  } catch (error) {
    return findings.fault(`${path} cannot be read (${(error as Error).message}): restore a backup`);
  }
}
