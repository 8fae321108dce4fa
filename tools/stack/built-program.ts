import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { currentBuild, programModules } from '@tocsin/shared/runtime/program-build.ts';

const names = Object.keys(programModules);
let build: string | undefined;

/**
 * Returns the build of a program, or its main module (`cli/main.ts`) if the sources are not built. Saves a child
 * process the search for the build, a quarter of the CPU time of a short command. Searches once per process.
 */
export function builtProgram(mainModule: string): string {
  const name = /(\w+)\/main\.ts$/.exec(mainModule)?.[1];
  if (name === undefined || !names.includes(name)) return mainModule;
  build ??= currentBuild();
  const built = join(build, `${name}.js`);
  return existsSync(built) ? built : mainModule;
}
