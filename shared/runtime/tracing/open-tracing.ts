import type { Config } from '../../platform/load-config.ts';
import type { Logger } from '../../platform/logger.ts';
import { tracingSettings } from './tracing-settings.ts';
import { untraced, type Tracing } from './tracing.ts';

/**
 * Opens tracing according to the standard `OTEL_*` variables. Loads the SDK only if they enable tracing. For
 * unsupported settings, logs a warning and disables tracing: a service never fails because of tracing.
 */
export async function openTracing(
  config: Config,
  { process, log }: { process: { serviceName: string; version: string }; log: Logger },
): Promise<Tracing> {
  const requested = tracingSettings(config, process);
  if (requested.kind === 'unmet') log.warn(`tracing is off: ${requested.why}`);
  if (requested.kind !== 'on') return untraced;
  const { otelTracing } = await import('./otel-tracing.ts');
  return otelTracing(requested.settings, log);
}
