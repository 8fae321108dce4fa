import { existsSync, renameSync, rmSync } from 'node:fs';
import { enginesDir } from './engines-dir.ts';
import { runProgram } from './run-program.ts';
import { withInstallLock } from './with-install-lock.ts';

/**
 * Installs Python packages with pip into the directory, atomically; put the directory into PYTHONPATH. Neither uses nor
 * changes the system's packages. Returns immediately if installed; safe to call from several processes concurrently.
 * `wanted` are the arguments for pip; `onInstall` is called before an install.
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
