import type { Device } from '../domain/device.ts';
import type { Collection } from '../ports/documents.ts';

export const devices: Collection<Device> = {
  name: 'devices',
  fields: {
    userId: 'text', pushToken: 'text', platform: 'text', deviceId: 'text', deviceName: 'text', appVersion: 'text',
    isActive: 'boolean', createdAt: 'time', lastSeen: 'time',
  },
  uniqueKeys: { pushToken: ['pushToken'], userDevice: ['userId', 'deviceId'] },
  indexes: { byUser: ['userId', 'createdAt'] },
};
