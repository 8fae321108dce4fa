/** Counts open connections over all nodes. */
export interface Presence {
  /** Publishes this node's connection count per key and replaces its previous counts. They expire after 15 s. */
  announceConnections(nodeId: string, counts: ReadonlyMap<string, number>): Promise<void>;

  /**
   * Returns the key's connection count over all nodes except the given one, which knows its own. It is at most 2 s old;
   * connections of a dead node count for 15 s.
   */
  countConnections(key: string, exceptNodeId: string): Promise<number>;
}
