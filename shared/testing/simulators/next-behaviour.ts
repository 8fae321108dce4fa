/** What a simulator was told to do with each token. */
export type Scripts<B> = ReadonlyMap<string, B[]>;

/** The token's behaviour of this time: a list is used up one at a time, its last entry stays. Undefined: none was set. */
export function nextBehaviour<B>(scripts: Scripts<B>, token: string): B | undefined {
  const behaviours = scripts.get(token) ?? [];
  return behaviours.length > 1 ? behaviours.shift() : behaviours[0];
}
