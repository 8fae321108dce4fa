/**
 * Returns which offsets of a topic's removed records to store. Of those below the topic's first stored record (null:
 * none is stored), only the highest is kept, because a reader that starts below it gets that first record next. `below`
 * is that offset, under which stored offsets can be removed; null if no offset is below the first stored record.
 */
export function lostRecordsToKeep(
  removed: readonly number[],
  first: number | null,
): { readonly kept: readonly number[]; readonly below: number | null } {
  const isBelow = (offset: number) => first === null || offset < first;
  const below = removed.filter(isBelow).reduce((highest, offset) => Math.max(highest, offset), -1);
  const kept = removed.filter((offset) => !isBelow(offset));
  return below === -1 ? { kept, below: null } : { kept: [below, ...kept], below };
}
