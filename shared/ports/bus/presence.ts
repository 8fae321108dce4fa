/** Counts open connections over all nodes. */
export interface Presence {
  /** Announces this node's connections per key. Replaces the previous announcement; expires 15 s after the last call. */
  announceConnections(nodeId: string, counts: ReadonlyMap<string, number>): Promise<void>;

  /** Returns the connections of the key over all nodes, at most two seconds old, or 15 s after the death of a node. */
  countConnections(key: string): Promise<number>;
}
