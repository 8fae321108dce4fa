import { runService } from '@tocsin/shared/run-service.ts';
import { startFanout } from './start-fanout.ts';

await runService('fanout', startFanout);
