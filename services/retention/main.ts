import { runService } from '@tocsin/shared/run-service.ts';
import { startRetention } from './start-retention.ts';

await runService('retention', startRetention);
