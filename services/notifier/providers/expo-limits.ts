import type { PushGateway } from './push-gateway.ts';

/** The limits of Expo's push API. */
export const expoLimits: Pick<PushGateway, 'batchSizeMax' | 'payloadBytesMax'> = {
  batchSizeMax: 100,
  /** The part of the 4,096 bytes that remains after the fields that Expo adds for Apple and Google. */
  payloadBytesMax: 3_584,
};
