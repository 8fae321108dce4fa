import { runService } from '@tocsin/shared/runtime/run-service.ts';
import { startApi } from './start-api.ts';

await runService('api', startApi);
