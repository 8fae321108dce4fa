import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import type { Plugin } from 'rolldown';
import { keepBuild } from '@tocsin/shared/runtime/keep-build.ts';
import { currentBuild, programModules } from '@tocsin/shared/runtime/program-build.ts';

const root = join(import.meta.dirname, '../..');

/**
 * Builds the programs into a directory of `dist` unless the current sources are built. Throws if it cannot write the
 * directory or bundle the sources.
 */
export async function buildPrograms(): Promise<void> {
  const target = currentBuild();
  if (existsSync(target)) return;
  mkdirSync(dirname(target), { recursive: true });
  const directory = mkdtempSync(join(dirname(target), '.building-'));
  try {
    await bundle(directory);
    keepBuild(directory, target);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

/** Bundles our own modules; packages stay in `node_modules`, where their native parts and our patches are. */
async function bundle(directory: string): Promise<void> {
  const { rolldown } = await import('rolldown');
  const build = await rolldown({
    cwd: root,
    input: Object.fromEntries(Object.entries(programModules).map(([name, file]) => [name, join(root, file)])),
    platform: 'node',
    tsconfig: false, // Node ignores it, too
    plugins: [packagesOutside, sourceLocations],
  });
  try {
    await build.write({ dir: directory, format: 'esm' });
  } finally {
    await build.close();
  }
}

const packageName = /^(?!@tocsin\/|node:)(?:@[\w.-]+\/)?[\w-][\w.-]*(?=\/|$)/;

/**
 * Leaves packages outside of the bundle, except those that only a workspace has: from `dist`, Node would find no
 * version or another one.
 */
const packagesOutside: Plugin = {
  name: 'packages-outside',
  resolveId(id, importer) {
    const name = packageName.exec(id)?.[0];
    if (name === undefined || importer === undefined) return null;
    for (let folder = dirname(importer); folder !== root; folder = dirname(folder))
      if (existsSync(join(folder, 'node_modules', name))) return null;
    return { id, external: true };
  },
};

/** Makes `import.meta` name the source file, so that paths relative to it stay valid. */
const sourceLocations: Plugin = {
  name: 'source-locations',
  transform(code, id) {
    if (!id.startsWith(root) || !/import\.meta\.(url|dirname)/.test(code)) return null;
    const file = JSON.stringify(`../../${relative(root, id)}`);
    const folder = JSON.stringify(`../../${relative(root, dirname(id))}`);
    return code
      .replaceAll('import.meta.url', `new URL(${file}, import.meta.url).href`)
      .replaceAll(
        'import.meta.dirname',
        `process.getBuiltinModule('node:url').fileURLToPath(new URL(${folder}, import.meta.url))`,
      );
  },
};
