/** The size of some messages. `bytes` counts texts and titles in UTF-8. */
export interface MessageVolume {
  readonly messages: number;
  readonly bytes: number;
}

export const noVolume: MessageVolume = { messages: 0, bytes: 0 };

/** Returns the sum of two volumes; the first can be undefined. */
export function plusVolume(sum: MessageVolume | undefined, more: MessageVolume): MessageVolume {
  return sum === undefined ? more : { messages: sum.messages + more.messages, bytes: sum.bytes + more.bytes };
}
