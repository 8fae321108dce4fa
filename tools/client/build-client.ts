import { spawnSync } from 'node:child_process';
import { copyFileSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..', '..');

const folder = join(root, 'clients', 'typescript');

/**
 * Compiles the client to a folder to pack and publish, and returns it. The workspace itself exports its sources, so
 * that nothing else needs a build.
 */
export function buildClient(dist = join(folder, 'dist')): string {
  rmSync(dist, { recursive: true, force: true });
  const compiler = join(root, 'node_modules', 'typescript-7', 'bin', 'tsc');
  const project = join(folder, 'tsconfig.build.json');
  const { status, stdout } = spawnSync(process.execPath, [compiler, '--project', project, '--outDir', dist], {
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(`The client does not compile:\n${stdout}`);
  const { private: _, ...manifest } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as {
    private?: boolean;
  };
  const exports = { '.': { types: './index.d.ts', default: './index.js' } };
  writeFileSync(join(dist, 'package.json'), `${JSON.stringify({ ...manifest, exports }, null, 2)}\n`);
  copyFileSync(join(folder, 'README.md'), join(dist, 'README.md'));
  copyFileSync(join(root, 'LICENSE'), join(dist, 'LICENSE'));
  return dist;
}
