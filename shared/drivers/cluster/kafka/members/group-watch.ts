import { coalescedInterval } from '../../../../async/coalesced-timer.ts';
import { subscribeLater } from '../../../../async/subscribe-later.ts';
import type { Logger } from '../../../../platform/logger.ts';
import type { ChannelSubscription, PubSub } from '../../../../ports/bus/pub-sub.ts';
import { memberBeatMs, newBeatingClientId, SilentMembers, type ListedMember } from './silent-members.ts';

export interface GroupWatchOptions {
  readonly bus: Pick<PubSub, 'publish' | 'subscribe' | 'isConnected'>;
  readonly group: string;
  /** After this time, the broker itself removes a member that does not respond. */
  readonly sessionTimeoutMs: number;
  readonly log: Logger;
  /** Returns the members of the group, including those that are joining. */
  readonly listMembers: () => Promise<readonly ListedMember[]>;
  /** Removes a member from the group. Returns false if it is not a member any more. */
  readonly removeMember: (memberId: string) => Promise<boolean>;
  /** Called when this process removed a member that did not respond. */
  readonly onRemoved: () => void;
}

/** What the members of a group send each other; other versions may send more. */
type Message =
  | { readonly beat: string }
  | { readonly left: string }
  | { readonly removed: ListedMember }
  | { readonly rebalancing: string };

/** How often a joining member looks for members that the group waits for, and the pause after a failure. */
const checkPauseMs = 1_000;

/**
 * The watch of a consumer group's members over each other: sends beats over the bus, and removes members from the group
 * whose beats are missing, because Kafka waits for the session timeout. While the bus is down, only Kafka removes
 * members.
 */
export class GroupWatch {
  readonly #options: GroupWatchOptions;
  readonly #channel: string;
  readonly #silent: SilentMembers;
  #clientId = newBeatingClientId();
  #onRebalance: () => void = () => undefined;
  #subscribed: Promise<ChannelSubscription | undefined> | undefined;
  #stopBeats: (() => void) | undefined;
  #deadlineTimer: NodeJS.Timeout | undefined;
  #isJoining = true;
  #isChecking = false;
  #isClosed = false;
  /** When to list the members even if none is silent. */
  #listAt = -Infinity;
  #pausedUntil = -Infinity;

  constructor(options: GroupWatchOptions) {
    this.#options = options;
    this.#channel = `group-members:${options.group}`;
    this.#silent = new SilentMembers({ sessionTimeoutMs: options.sessionTimeoutMs });
    this.#silent.ownId = this.#clientId;
  }

  /** The client ID of the current session. */
  get clientId(): string {
    return this.#clientId;
  }

  /** Starts to send and receive beats. `onRebalance` is called when members have to rejoin the group soon. */
  start(onRebalance: () => void): void {
    this.#onRebalance = onRebalance;
    this.#subscribed = this.#subscribe();
    this.#beat();
    this.#stopBeats = coalescedInterval(memberBeatMs, () => this.#beat());
  }

  /** Changes the client ID for the next session, so that the last one counts as silent. */
  renew(): void {
    this.#clientId = newBeatingClientId();
    this.#silent.ownId = this.#clientId;
    this.#startJoining();
  }

  /** The session has to rejoin the group; the other members learn it immediately instead of with a heartbeat. */
  rebalancing(): void {
    this.#startJoining();
    this.#send({ rebalancing: this.#clientId });
  }

  joined(): void {
    this.#isJoining = false;
    this.#listAt = -Infinity; // finds members that died while no other one listened
  }

  /** The session with this client ID left the group. */
  left(clientId: string): void {
    this.#send({ left: clientId });
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#stopBeats?.();
    clearTimeout(this.#deadlineTimer);
    const subscription = await this.#subscribed;
    await subscription?.close().catch(() => undefined); // an unavailable server has dropped the subscription anyway
  }

  #subscribe(): Promise<ChannelSubscription | undefined> {
    const { bus, group, log } = this.#options;
    return subscribeLater(bus, this.#channel, (payload) => this.#receive(payload)).catch((error: unknown) => {
      log.debug({ err: error, group }, 'not listening to the members of the group');
      return undefined;
    });
  }

  #startJoining(): void {
    this.#isJoining = true;
    this.#listAt = -Infinity;
  }

  #beat(): void {
    this.#send({ beat: this.#clientId });
  }

  /** Messages that are lost only delay the others. */
  #send(message: Message): void {
    const { bus } = this.#options;
    if (bus.isConnected) void bus.publish(this.#channel, [JSON.stringify(message)]).catch(() => undefined);
  }

  #receive(payload: string): void {
    const message = JSON.parse(payload) as Message;
    const now = performance.now();
    if ('beat' in message && this.#silent.hear(message.beat, now)) void this.#check();
    if ('left' in message) this.#silent.forget(message.left);
    if ('removed' in message) this.#onRemoved(message.removed, now);
    if (!('beat' in message)) this.#onRebalance();
  }

  #onRemoved(member: ListedMember, now: number): void {
    const { group, log } = this.#options;
    if (member.clientId === this.#clientId)
      log.warn({ group }, 'beats of this process were missing, it was removed from the group and rejoins');
    else this.#silent.countRemoval(member, now);
  }

  /** Runs with each own beat, which proves that this process listens, and if a client reaches its limit in between. */
  async #check(): Promise<void> {
    clearTimeout(this.#deadlineTimer);
    if (this.#isChecking || this.#isClosed) return;
    this.#isChecking = true;
    await this.#removeSilent().catch((error: unknown) => {
      this.#pausedUntil = performance.now() + checkPauseMs;
      this.#options.log.debug({ err: error, group: this.#options.group }, 'the members of the group are unknown');
    });
    this.#isChecking = false;
    const now = performance.now();
    const leftMs = this.#silent.nextDeadline(now) - now;
    if (leftMs > 0 && leftMs < memberBeatMs && !this.#isClosed)
      this.#deadlineTimer = setTimeout(() => void this.#check(), Math.ceil(leftMs));
  }

  async #removeSilent(): Promise<void> {
    const { group, log, listMembers, removeMember, onRemoved } = this.#options;
    const now = performance.now();
    if (now < this.#pausedUntil || (now < this.#listAt && this.#silent.silent(now).length === 0)) return;
    this.#listAt = this.#isJoining ? now + checkPauseMs : Infinity;
    const listed = await listMembers();
    for (const member of this.#silent.toRemove(listed, performance.now())) {
      if (this.#isClosed) return;
      const isRemoved = await removeMember(member.memberId);
      this.#silent.countRemoval(member, performance.now());
      if (!isRemoved) continue;
      log.warn({ group, ...member }, 'a member of the group did not respond, removed it');
      onRemoved();
      this.#send({ removed: member });
    }
  }
}
