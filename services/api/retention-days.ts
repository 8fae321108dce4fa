import type { RetentionDays } from '@tocsin/shared/domain/tiers.ts';
import type { Config } from '@tocsin/shared/platform/load-config.ts';

/** For how long messages are kept, by the tier of the topic's owner. */
export function retentionDays(
  config: Pick<Config, 'RETENTION_DAYS_FREE' | 'RETENTION_DAYS_ESSENTIALS' | 'RETENTION_DAYS_TEAM'>,
): RetentionDays {
  return { FREE: config.RETENTION_DAYS_FREE, ESSENTIALS: config.RETENTION_DAYS_ESSENTIALS, TEAM: config.RETENTION_DAYS_TEAM };
}
