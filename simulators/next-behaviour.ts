/** What a simulator was told to do with each token; `*` stands for those that nothing was said of. */
export type Scripts<B> = ReadonlyMap<string, B[]>;

/** The token's behaviour of this time: a list is used up one at a time, its last entry stays. Undefined: none was set. */
export function nextBehaviour<B>(scripts: Scripts<B>, token: string): B | undefined {
  const behaviours = scripts.get(token) ?? scripts.get('*') ?? [];
  return behaviours.length > 1 ? behaviours.shift() : behaviours[0];
}
