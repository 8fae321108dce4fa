import { existsSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { enginesDir } from './engines-dir.ts';
import { runProgram } from './run-program.ts';
import { withInstallLock } from './with-install-lock.ts';

/** moto's S3 server supports uploads in parts, checksums, versions and object lock. */
const motoVersion = '5.2.5';
/** The web server of moto, without the packages for services other than S3. */
const packages = [`moto[s3]==${motoVersion}`, 'flask', 'flask-cors'];

/**
 * Returns a directory of Python packages with moto, installed if missing. Safe to call from several processes
 * concurrently.
 */
export const installMoto = async (report: (line: string) => void): Promise<string> => {
  const dir = join(enginesDir(), `moto-${motoVersion}`);
  if (existsSync(dir)) return dir;
  await withInstallLock(enginesDir(), 'moto', async () => {
    if (existsSync(dir)) return;
    report(`installing moto ${motoVersion}, an S3 server (about 30 s) …`);
    const unfinished = `${dir}.unfinished`;
    rmSync(unfinished, { recursive: true, force: true });
    const quiet = ['-q', '--disable-pip-version-check', '--root-user-action', 'ignore'];
    await runProgram('python3', ['-m', 'pip', 'install', ...quiet, '--target', unfinished, ...packages]);
    renameSync(unfinished, dir);
  });
  return dir;
};
