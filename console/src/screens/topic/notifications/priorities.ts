/** The options for the minimum priority of pushed messages. */
export const priorities: readonly (readonly [string, string])[] = [
  ['1', 'Every message'],
  ['2', 'Low and above'],
  ['3', 'Default and above'],
  ['4', 'High and highest'],
  ['5', 'Only highest'],
];
