import { accessSync, constants, existsSync, mkdirSync, statfsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { findingsOf, type Finding, type Findings } from '../../../platform/finding.ts';
import { schemaVersionOf } from '../sqlite/migrations.ts';

const gibibyte = 2 ** 30;
const freeBytesMin = gibibyte;

/** Looks at the embedded engine's directory and its file, also beside a running server; changes nothing but makes the directory. */
export function inspectDataDir(
  dir: string,
  { fileName, schemaVersion }: { fileName: string; schemaVersion: number },
): Finding[] {
  const found = findingsOf('DATA_DIR');
  try {
    mkdirSync(dir, { recursive: true, mode: 0o700 });
    accessSync(dir, constants.W_OK);
  } catch (error) {
    return [
      found.fault(
        `${dir} cannot be written (${(error as NodeJS.ErrnoException).code}): give it to the user that runs Tocsin, or set DATA_DIR to another directory`,
      ),
    ];
  }
  const { bavail, bsize } = statfsSync(dir);
  const free = bavail * bsize;
  const space = `${(free / gibibyte).toFixed(1)} GiB free`;
  return [
    free < freeBytesMin
      ? found.warning(`${dir} has ${space}: publishing ends when the disk is full`)
      : found.ok(`${dir} can be written, ${space}`),
    inspectFile(found, join(dir, fileName), schemaVersion),
  ];
}

function inspectFile(found: Findings, path: string, schemaVersion: number): Finding {
  if (!existsSync(path)) return found.ok(`${path} will be made at the first start`);
  try {
    const db = new DatabaseSync(path, { readOnly: true, timeout: 5_000 });
    try {
      const version = schemaVersionOf(db);
      if (version > schemaVersion)
        return found.fault(
          `${path} was written by a newer Tocsin (schema ${version}, this one knows ${schemaVersion}): start that one`,
        );
      return found.ok(
        `${path} opens, ${(statSync(path).size / 2 ** 20).toFixed(0)} MiB${version < schemaVersion ? ', the next start brings it to the newest schema' : ''}`,
      );
    } finally {
      db.close();
    }
  } catch (error) {
    return found.fault(`${path} cannot be read (${(error as Error).message}): restore a backup`);
  }
}
