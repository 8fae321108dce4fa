import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { enginesDir } from '../engines/engines-dir.ts';
import { installPythonPackages } from './install-python-packages.ts';

/** What sends through ntfy's interface for a hundred other programs: https://pypi.org/project/apprise/ */
export const appriseVersion = '2.2.0';

const appriseDir = (): string => join(enginesDir(), `apprise-${appriseVersion}`);

/** What this machine lacks to install and run Apprise; empty when nothing is. */
export const missingForApprise = (): string[] => {
  const hasPip = spawnSync('python3', ['-m', 'pip', '--version'], { stdio: 'ignore' }).status === 0;
  return hasPip ? [] : ['python3 with pip (installs and runs Apprise)'];
};

/** Installs Apprise beside the engines, where it is not yet. Resolves with what PYTHONPATH has to be. */
export const installApprise = async (): Promise<string> => {
  const dir = appriseDir();
  await installPythonPackages(dir, { lockName: 'apprise', wanted: [`apprise==${appriseVersion}`] });
  return dir;
};
