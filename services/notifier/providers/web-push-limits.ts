import type { PushGateway } from './push-gateway.ts';

/** The limits of the push services of browsers. */
export const webPushLimits: Pick<PushGateway, 'batchSizeMax' | 'payloadBytesMax'> = {
  batchSizeMax: 100,
  /** Push services accept 4,096 encrypted bytes, 103 of which are overhead; the rest is for fields of the gateway. */
  payloadBytesMax: 3_840,
};
