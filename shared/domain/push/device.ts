export const platforms = ['ios', 'android', 'expo', 'web'] as const;
export type Platform = (typeof platforms)[number];

export const deviceTestStatuses = ['queued', 'sent', 'dead_token', 'failed'] as const;

/** A test push to a device and its outcome. */
export interface DeviceTest {
  /** Identifies the test: its job carries the same time. */
  readonly requestedAt: number;
  /** `queued` while it waits for its first or next attempt. */
  readonly status: (typeof deviceTestStatuses)[number];
  /** Why it is not `sent`; while `queued`, the response to the last attempt. Null if there is nothing to report. */
  readonly reason: string | null;
  readonly updatedAt: number;
}

/** A device that receives pushes. Times are milliseconds since the epoch. */
export interface Device {
  readonly id: string;
  readonly version: number;
  readonly userId: string;
  /** The provider's token, or the JSON of a browser's subscription; unique. */
  readonly pushToken: string;
  readonly platform: Platform;
  /** The device's own identifier; unique per user. */
  readonly deviceId: string;
  readonly deviceName: string | null;
  readonly appVersion: string | null;
  /** False after the provider rejected the token as dead. */
  readonly isActive: boolean;
  readonly createdAt: number;
  readonly lastSeen: number;
  /** The time of the last registration or push token change; null for devices registered before this field existed. */
  readonly tokenGivenAt: number | null;
  /** When the provider first reported the token as suspect; null if never, or if it accepted a push since. */
  readonly doubtedAt: number | null;
  /** The last test push to the present push token, or null. */
  readonly lastTest: DeviceTest | null;
}
