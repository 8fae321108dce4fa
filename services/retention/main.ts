import { runProgram } from '@tocsin/shared/runtime/program-build.ts';

await runProgram('retention', () => import('./program.ts'));
