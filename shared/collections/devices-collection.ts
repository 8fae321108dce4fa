import type { Device } from '../domain/push/device.ts';
import type { Collection } from '../ports/documents.ts';

/** The maximum number of devices per account. */
export const devicesPerAccount = 100;

export const devices: Collection<Device> = {
  name: 'devices',
  fields: {
    userId: 'text',
    pushToken: 'text',
    platform: 'text',
    deviceId: 'text',
    deviceName: 'text',
    appVersion: 'text',
    isActive: 'boolean',
    createdAt: 'time',
    lastSeen: 'time',
    tokenGivenAt: 'time',
    doubtedAt: 'time',
    lastTest: 'json',
  },
  uniqueKeys: { pushToken: ['pushToken'], userDevice: ['userId', 'deviceId'] },
  indexes: { byUser: ['userId', 'createdAt'] },
};
