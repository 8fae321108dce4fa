import { runProgram } from '@tocsin/shared/runtime/program-build.ts';

await runProgram('notifier', () => import('./program.ts'));
