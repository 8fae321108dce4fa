import { withBuiltConsole } from '@tocsin/shared/runtime/built-console.ts';
import { buildPrograms } from './build-programs.ts';

// `npm run build`: builds the programs and the console if their sources changed.
const builds = [
  { what: 'the programs, which run from their sources', build: buildPrograms },
  { what: 'the console, which the server builds when it starts', build: () => withBuiltConsole(() => undefined) },
];
for (const { what, build } of builds) {
  try {
    await build();
  } catch (error) {
    process.stderr.write(`Could not build ${what}: ${error instanceof Error ? error.message : String(error)}\n`);
    process.exitCode = 1;
    break; // the other build would fail for the same reason, after more time
  }
}
