import { existsSync, renameSync, rmSync } from 'node:fs';
import { enginesDir } from '../engines/engines-dir.ts';
import { runProgram } from '../engines/run-program.ts';
import { withInstallLock } from '../engines/with-install-lock.ts';

/**
 * Has pip install Python packages into the directory, which has all of them or is not there; put it into PYTHONPATH. The system's
 * own packages are neither used nor changed. Returns immediately if installed; safe to call from several processes at once.
 * `wanted` is what pip is told to install, `onInstall` is called when it begins to.
 */
export const installPythonPackages = async (
  dir: string,
  { lockName, wanted, onInstall }: { lockName: string; wanted: readonly string[]; onInstall?: () => void },
): Promise<void> => {
  if (existsSync(dir)) return;
  await withInstallLock(enginesDir(), lockName, async () => {
    if (existsSync(dir)) return;
    onInstall?.();
    const unfinished = `${dir}.unfinished`;
    rmSync(unfinished, { recursive: true, force: true });
    const pip = [
      '-m',
      'pip',
      'install',
      '-q',
      '--disable-pip-version-check',
      '--root-user-action=ignore',
      '--no-warn-script-location',
    ];
    await runProgram('python3', [...pip, '--target', unfinished, ...wanted]);
    renameSync(unfinished, dir);
  });
};
