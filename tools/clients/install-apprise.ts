import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { enginesDir } from '../engines/engines-dir.ts';
import { installPythonPackages } from '../engines/install-python-packages.ts';

/** A client library for the ntfy API that many programs use: https://pypi.org/project/apprise/ */
const appriseVersion = '2.2.0';

const appriseDir = (): string => join(enginesDir(), `apprise-${appriseVersion}`);

/** Lists what this machine lacks to install and run Apprise; empty if nothing is missing. */
export const missingForApprise = (): string[] => {
  const hasPip = spawnSync('python3', ['-m', 'pip', '--version'], { stdio: 'ignore' }).status === 0;
  return hasPip ? [] : ['python3 with pip (installs and runs Apprise)'];
};

/** Installs Apprise in the engines directory unless it is installed. Resolves with the value for PYTHONPATH. */
export const installApprise = async (): Promise<string> => {
  const dir = appriseDir();
  await installPythonPackages(dir, { lockName: 'apprise', wanted: [`apprise==${appriseVersion}`] });
  return dir;
};
