#!/usr/bin/env node
import { runProgram } from '@tocsin/shared/runtime/program-build.ts';

await runProgram('cli', () => import('./program.ts'));
