import { randomUUID } from 'node:crypto';

/** A member of a consumer group as the broker lists it. */
export interface ListedMember {
  readonly memberId: string;
  readonly clientId: string;
}

/** Begins the Kafka client IDs of members that send beats. The versions before did not, and must not be removed. */
const clientIdPrefix = 'tocsin-beats-';

/** Returns a client ID for a session that sends beats. Brokers derive the member IDs from it. */
export const newBeatingClientId = (): string => clientIdPrefix + randomUUID();

/** How often a member sends a beat. */
export const memberBeatMs = 500;
/** A member is removed after three missing beats. */
const silentMs = 1_500;
/** A process without this many of its own beats did not listen: it was stalled, or the bus was down. */
const deafMs = 1_500;
/** After that, the other members have this long to reconnect to the bus. */
const settleMs = 5_000;
/** While the newest own beat is older, beats of other members may wait to be read, and none counts as silent. */
const ownBeatAgeMsMax = 750;
/** How long the removals of a client count. */
const removalsLifeMs = 600_000;
/** Limits the memory for the clients of other processes. */
const clientsMax = 1_000;

interface Client {
  /** Since when it has been silent: its last beat, its first appearance in the group, or its last removal. */
  silentSince: number;
  /** Its removals from the group, by any member, within their life. */
  removals: number;
  removedAt: number;
  readonly removedMemberIds: Set<string>;
}

/**
 * Decides which members of a consumer group no longer run, from the beats that members send over the bus. Times are
 * milliseconds of a monotonic clock.
 *
 * A beat names the sender's Kafka client ID, which is unique per session. A client is silent if its beats are missing
 * for `silentMs` while this process receives its own ones. The limit doubles with each removal of the client, up to the
 * session timeout: from then on, a member that runs but whose beats do not arrive stays in the group.
 */
export class SilentMembers {
  readonly #sessionTimeoutMs: number;
  readonly #clients = new Map<string, Client>();
  #ownId: string | undefined;
  /** Since when this process has received its own beats. */
  #listeningSince: number | undefined;
  #ownBeatAt = -Infinity;

  constructor({ sessionTimeoutMs }: { readonly sessionTimeoutMs: number }) {
    this.#sessionTimeoutMs = sessionTimeoutMs;
  }

  /** The client ID under which this process sends beats from now on. */
  set ownId(clientId: string) {
    this.#ownId = clientId;
  }

  /** A beat of the client arrived. Returns whether it is an own one. */
  hear(clientId: string, now: number): boolean {
    if (clientId !== this.#ownId) {
      this.#client(clientId, now).silentSince = now;
      return false;
    }
    if (this.#listeningSince === undefined) this.#listeningSince = now;
    else if (now - this.#ownBeatAt > deafMs) this.#listeningSince = now + settleMs;
    this.#ownBeatAt = now;
    return true;
  }

  /** The client left the group, or is not listed any more. */
  forget(clientId: string): void {
    const client = this.#clients.get(clientId);
    if (client === undefined) return;
    if (client.removals === 0) this.#clients.delete(clientId);
    else client.silentSince = Infinity; // until it is heard or listed
  }

  /** A member removed this one. */
  countRemoval({ memberId, clientId }: ListedMember, now: number): void {
    const client = this.#client(clientId, now);
    if (client.removedMemberIds.has(memberId)) return;
    if (now - client.removedAt > removalsLifeMs) {
      client.removals = 0;
      client.removedMemberIds.clear();
    }
    client.removedMemberIds.add(memberId);
    client.removals += 1;
    client.removedAt = now;
    client.silentSince = now;
  }

  /** The clients whose silence is over the limit. */
  silent(now: number): string[] {
    if (now - this.#ownBeatAt > ownBeatAgeMsMax) return [];
    return [...this.#clients].filter(([, client]) => this.#deadline(client, now) <= now).map(([clientId]) => clientId);
  }

  /** When the next client is over its limit; Infinity if none will be. */
  nextDeadline(now: number): number {
    return Math.min(Infinity, ...[...this.#clients.values()].map((client) => this.#deadline(client, now)));
  }

  /** Returns the listed members to remove from the group. Forgets silent clients that are not listed. */
  toRemove(members: readonly ListedMember[], now: number): ListedMember[] {
    const listed = members.filter(({ clientId }) => clientId.startsWith(clientIdPrefix));
    for (const { clientId } of listed) {
      if (clientId === this.#ownId) continue;
      const client = this.#client(clientId, now);
      if (client.silentSince === Infinity) client.silentSince = now;
    }
    const silent = this.silent(now);
    const gone = silent.filter((clientId) => !listed.some((member) => member.clientId === clientId));
    for (const clientId of gone) this.forget(clientId);
    return listed.filter(({ clientId }) => silent.includes(clientId));
  }

  #client(clientId: string, now: number): Client {
    let client = this.#clients.get(clientId);
    if (client === undefined) {
      if (this.#clients.size >= clientsMax) this.#clients.clear();
      client = { silentSince: now, removals: 0, removedAt: -Infinity, removedMemberIds: new Set() };
      this.#clients.set(clientId, client);
    }
    return client;
  }

  #deadline(client: Client, now: number): number {
    const removals = now - client.removedAt > removalsLifeMs ? 0 : client.removals;
    const limitMs = silentMs * 2 ** removals;
    if (this.#listeningSince === undefined || limitMs >= this.#sessionTimeoutMs) return Infinity;
    return Math.max(client.silentSince, this.#listeningSince) + limitMs;
  }
}
