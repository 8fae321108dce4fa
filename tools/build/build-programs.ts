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

/**
 * Packages that stay in `node_modules`: our patches change modules of kafkajs and mongodb, and bson must be the
 * instance that mongodb uses.
 */
const packagesOutside = /^(?:bson|kafkajs|mongodb)(?=\/|$)/;

/** Bundles our modules and the packages that they import. */
async function bundle(directory: string): Promise<void> {
  const { rolldown } = await import('rolldown');
  const build = await rolldown({
    cwd: root,
    input: Object.fromEntries(Object.entries(programModules).map(([name, file]) => [name, join(root, file)])),
    platform: 'node',
    tsconfig: false, // Node ignores it, too
    external: packagesOutside,
    plugins: [sourceLocations],
  });
  try {
    await build.write({ dir: directory, format: 'esm', banner: `const ${buildDirectory} = import.meta.dirname;` });
  } finally {
    await build.close();
  }
}

const buildDirectory = '__tocsinBuildDirectory';

/**
 * Makes `import.meta` and the variables of CommonJS name the source file, so that paths relative to it stay valid. With
 * them, packages find their native parts and the files of their threads.
 */
const sourceLocations: Plugin = {
  name: 'source-locations',
  transform: {
    filter: { id: /^[^\0]/, code: /import\.meta\.(?:url|dirname)|\b__(?:dirname|filename)\b/ },
    handler(code, id) {
      const path = (file: string) =>
        `process.getBuiltinModule('node:path').join(${buildDirectory}, ${JSON.stringify(`../../${relative(root, file)}`)})`;
      const url = `process.getBuiltinModule('node:url').pathToFileURL(${path(id)}).href`;
      if (!code.includes('import.meta'))
        return `var __dirname = ${path(dirname(id))}, __filename = ${path(id)};${code}`;
      return code.replaceAll('import.meta.url', url).replaceAll('import.meta.dirname', path(dirname(id)));
    },
  },
};
