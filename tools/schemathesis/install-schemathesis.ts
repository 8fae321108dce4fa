import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { enginesDir } from '../engines/engines-dir.ts';
import { installPythonPackages } from '../engines/install-python-packages.ts';

const requirementsFile = join(import.meta.dirname, 'requirements.txt');

/** Oldest supported Python version. */
const pythonMin = [3, 10] as const;

/** Returns what this machine lacks for Schemathesis; empty if nothing is missing. */
export function missingForSchemathesis(): string[] {
  const { status, stdout } = spawnSync(
    'python3',
    ['-c', 'import sys; print(sys.version_info[0], sys.version_info[1])'],
    { encoding: 'utf8' },
  );
  if (status !== 0) return ['python3'];
  const [major = 0, minor = 0] = stdout.trim().split(' ').map(Number);
  if (major < pythonMin[0] || (major === pythonMin[0] && minor < pythonMin[1]))
    return [`Python ${pythonMin.join('.')} or newer`];
  const hasPip = existsSync(schemathesisDir()) || spawnSync('python3', ['-m', 'pip', '--version']).status === 0;
  return hasPip ? [] : ['pip for python3'];
}

/** Directory of these versions: each Python version and each requirements list has its own. */
function schemathesisDir(): string {
  const { stdout } = spawnSync('python3', ['-c', 'import sys; print(sys.version)'], { encoding: 'utf8' });
  const key = createHash('sha256').update(readFileSync(requirementsFile)).update(stdout).digest('hex').slice(0, 12);
  return join(enginesDir(), `schemathesis-${key}`);
}

/**
 * Installs Schemathesis and returns its directory for PYTHONPATH. The system's Python packages are neither used nor
 * changed. Safe to call from several processes concurrently; returns immediately if installed.
 */
export async function installSchemathesis(report: (line: string) => void): Promise<string> {
  const dir = schemathesisDir();
  await installPythonPackages(dir, {
    lockName: 'schemathesis',
    wanted: ['--only-binary', ':all:', '--no-deps', '-r', requirementsFile],
    onInstall: () => report('installing Schemathesis (about 20 s) …'),
  });
  return dir;
}
