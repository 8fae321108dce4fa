/** Which messages a reader gets. The fields are those of the search. */
export interface TopicFilter {
  readonly priorityMin?: number;
  readonly priorityMax?: number;
  /** Messages with any of these tags. */
  readonly tags?: readonly string[];
  /** Messages whose title or text contains this. */
  readonly q?: string;
}

export function filterParameters({ priorityMin, priorityMax, tags, q }: TopicFilter = {}): Record<string, string> {
  return {
    ...(priorityMin !== undefined && { priority_min: String(priorityMin) }),
    ...(priorityMax !== undefined && { priority_max: String(priorityMax) }),
    ...(tags !== undefined && { tags: tags.join(',') }),
    ...(q !== undefined && { q }),
  };
}
