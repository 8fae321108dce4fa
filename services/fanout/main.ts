import { runProgram } from '@tocsin/shared/runtime/program-build.ts';

await runProgram('fanout', () => import('./program.ts'));
