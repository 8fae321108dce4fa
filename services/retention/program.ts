import { runService } from '@tocsin/shared/runtime/run-service.ts';
import { startRetention } from './start-retention.ts';

await runService('retention', startRetention);
