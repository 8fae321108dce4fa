export const platforms = ['ios', 'android', 'expo'] as const;
export type Platform = (typeof platforms)[number];

/** A phone that can be pushed to. Times are milliseconds since the epoch. */
export interface Device {
  readonly id: string;
  readonly version: number;
  readonly userId: string;
  /** The provider's token; on one device only. */
  readonly pushToken: string;
  readonly platform: Platform;
  /** The device's own name for itself, unique per user. */
  readonly deviceId: string;
  readonly deviceName: string | null;
  readonly appVersion: string | null;
  /** False once the provider called the token dead. */
  readonly isActive: boolean;
  readonly createdAt: number;
  readonly lastSeen: number;
  /** When the push token was last given, by a registration or a change; null before that was noted. */
  readonly tokenGivenAt: number | null;
  /** When the provider first doubted the token; null when it never did, or took a push since. */
  readonly doubtedAt: number | null;
}
