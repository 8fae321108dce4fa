import { join } from 'node:path';
import { enginesDir } from './engines-dir.ts';
import { installPythonPackages } from './install-python-packages.ts';

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
  await installPythonPackages(dir, {
    lockName: 'moto',
    wanted: packages,
    onInstall: () => report(`installing moto ${motoVersion}, an S3 server (about 30 s) …`),
  });
  return dir;
};
