export const sequenceIdCharactersMax = 128;

const sequenceId = new RegExp(`^[A-Za-z0-9._-]{1,${sequenceIdCharactersMax}}$`);

/** Whether the text can be a sequence ID. */
export function isSequenceId(text: string): boolean {
  return sequenceId.test(text);
}
