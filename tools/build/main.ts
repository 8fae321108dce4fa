import { buildPrograms } from './build-programs.ts';

try {
  await buildPrograms();
} catch (error) {
  const reason = error instanceof Error ? error.message : String(error);
  process.stderr.write(`Could not build the programs, which now run from their sources: ${reason}\n`);
  process.exitCode = 1;
}
