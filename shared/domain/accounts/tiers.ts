export const tiers = ['FREE', 'ESSENTIALS', 'TEAM'] as const;
export type Tier = (typeof tiers)[number];

/** What a tier grants. Windows of publishes: minute and hour run from the first publish in them, the day is UTC's. */
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

/** Requests per minute and address without a valid credential. */
export const anonymousRequestsPerMinute = 60;

/** The tier in force: one whose end has passed counts as FREE from that second on. */
export function tierInForce(user: { readonly tier: Tier; readonly tierExpiresAt: number | null }, now: number): Tier {
  return user.tierExpiresAt !== null && user.tierExpiresAt <= now ? 'FREE' : user.tier;
}

/** Whether the tier is at least the required one. */
export function reachesTier(tier: Tier, required: Tier): boolean {
  return tiers.indexOf(tier) >= tiers.indexOf(required);
}

/** Retention in days per tier, a fraction allowed; the tier of the topic's owner counts, at the moment of the publish. */
export type RetentionDays = Readonly<Record<Tier, number>>;

/** As configured. */
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

/** How long a topic's messages are kept, in milliseconds: what the topic says, and never longer than its owner's tier grants. */
export function lifetimeMsOf({ retentionDays }: { readonly retentionDays: number | null }, tierDays: number): number {
  return Math.round(Math.min(retentionDays ?? tierDays, tierDays) * dayMs);
}

/** A tier's days in full, which is what a topic can be given at most; less than one is told as one, since 0 would say that nothing is kept. */
export const wholeDays = (tierDays: number): number => Math.max(1, Math.floor(tierDays));
