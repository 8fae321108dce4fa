/** What the link of a push acknowledges: one message, from one device. */
export interface AckTarget {
  readonly messageId: string;
  readonly deviceId: string;
}

/** The text that the message's key signs. */
export const ackText = ({ messageId, deviceId }: AckTarget): string => `${messageId}.${deviceId}`;

/** The purpose of the signature. */
export const ackPurpose = 'ack';

const form = /^([0-9a-f-]{36})\.([0-9a-f-]{36})\.([\w-]{22})$/;

/** Parses a token: the target and its signature. Null for any other text. */
export function parseAckToken(token: string): (AckTarget & { readonly proof: string }) | null {
  const [, messageId, deviceId, proof] = form.exec(token) ?? [];
  if (messageId === undefined || deviceId === undefined || proof === undefined) return null;
  return { messageId, deviceId, proof };
}
