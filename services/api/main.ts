import { runProgram } from '@tocsin/shared/runtime/program-build.ts';

await runProgram('api', () => import('./program.ts'));
