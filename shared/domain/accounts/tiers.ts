export const tiers = ['FREE', 'ESSENTIALS', 'TEAM'] as const;
export type Tier = (typeof tiers)[number];

/** The limits of a tier. The minute and hour windows start with the first publish; the day is a UTC day. */
export interface TierLimits {
  readonly publishesPerMinute: number;
  readonly publishesPerHour: number;
  readonly publishesPerDay: number;
  readonly privateTopics: number;
}

export const tierLimits: Readonly<Record<Tier, TierLimits>> = {
  FREE: { publishesPerMinute: 10, publishesPerHour: 100, publishesPerDay: 1_000, privateTopics: 1 },
  ESSENTIALS: { publishesPerMinute: 30, publishesPerHour: 300, publishesPerDay: 15_000, privateTopics: 10 },
  TEAM: { publishesPerMinute: 100, publishesPerHour: 1_000, publishesPerDay: 50_000, privateTopics: 50 },
};

/** Requests per minute and client address without a valid credential. */
export const anonymousRequestsPerMinute = 60;

/** Returns the effective tier: FREE after the tier has expired. */
export function tierInForce(user: { readonly tier: Tier; readonly tierExpiresAt: number | null }, now: number): Tier {
  return user.tierExpiresAt !== null && user.tierExpiresAt <= now ? 'FREE' : user.tier;
}

/** Whether the tier is at least the required one. */
export function reachesTier(tier: Tier, required: Tier): boolean {
  return tiers.indexOf(tier) >= tiers.indexOf(required);
}

/** Retention in days per tier; can be fractional. The owner's tier at the time of the publish applies. */
export type RetentionDays = Readonly<Record<Tier, number>>;

/** Returns the configured retention per tier. */
export function retentionDaysOf(config: {
  readonly RETENTION_DAYS_FREE: number;
  readonly RETENTION_DAYS_ESSENTIALS: number;
  readonly RETENTION_DAYS_TEAM: number;
}): RetentionDays {
  return {
    FREE: config.RETENTION_DAYS_FREE,
    ESSENTIALS: config.RETENTION_DAYS_ESSENTIALS,
    TEAM: config.RETENTION_DAYS_TEAM,
  };
}

const dayMs = 86_400_000;

/** Returns the lifetime of a topic's messages in milliseconds: the topic's setting, limited by the owner's tier. */
export function lifetimeMsOf({ retentionDays }: { readonly retentionDays: number | null }, tierDays: number): number {
  return Math.round(Math.min(retentionDays ?? tierDays, tierDays) * dayMs);
}

/** Returns the tier's retention in whole days, the maximum for a topic. Less than one day is reported as 1. */
export const wholeDays = (tierDays: number): number => Math.max(1, Math.floor(tierDays));
