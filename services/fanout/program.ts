import { runService } from '@tocsin/shared/runtime/run-service.ts';
import { startFanout } from './start-fanout.ts';

await runService('fanout', startFanout);
