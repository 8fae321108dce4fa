import type { Config } from '../../platform/load-config.ts';
import type { Logger } from '../../platform/logger.ts';
import { tracingSettings } from './tracing-settings.ts';
import { untraced, type Tracing } from './tracing.ts';

/**
 * Tracing as the standard `OTEL_*` variables ask for it. The SDK is loaded only where they do. What they ask for and this
 * cannot do is told in the log, and nothing is traced then: a service never fails for the sake of its traces.
 */
export async function openTracing(
  config: Config,
  { process, log }: { process: { serviceName: string; version: string }; log: Logger },
): Promise<Tracing> {
  const asked = tracingSettings(config, process);
  if (asked.kind === 'unmet') log.warn(`nothing is traced: ${asked.why}`);
  if (asked.kind !== 'on') return untraced;
  const { otelTracing } = await import('./otel-tracing.ts');
  return otelTracing(asked.settings, log);
}
