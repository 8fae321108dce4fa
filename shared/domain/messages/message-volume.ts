/** How much some messages are. `bytes` are those of texts and titles in UTF-8, as they stand. */
export interface MessageVolume {
  readonly messages: number;
  readonly bytes: number;
}

export const noVolume: MessageVolume = { messages: 0, bytes: 0 };

/** The sum of two volumes; the first may be that of nothing yet. */
export function plusVolume(sum: MessageVolume | undefined, more: MessageVolume): MessageVolume {
  return sum === undefined ? more : { messages: sum.messages + more.messages, bytes: sum.bytes + more.bytes };
}
