import { effect, signal } from '@preact/signals';
import { useEffect, useRef, useState } from 'preact/hooks';
import { call } from '../api/call.ts';
import { session } from '../api/session.ts';
import type { Message, WaitingMessage } from '../api/wire.ts';

/** The limit of one request. */
export const waitingMax = 200;

/** Several changes within this time cause one request. */
const gatherMs = 300;
/** The server lists a new message a moment after streams deliver it. */
const listedAfterMs = 3_000;

/** The messages of all topics of the account that wait for an acknowledgement, oldest first. */
export const waiting = signal<readonly WaitingMessage[]>([]);

/** Increases when a list of waiting messages may have changed. */
const changes = signal(0);

let soon: ReturnType<typeof setTimeout> | undefined;
let later: ReturnType<typeof setTimeout> | undefined;

/** Reloads the lists of waiting messages. */
export function waitingChanged(): void {
  clearTimeout(later);
  later = setTimeout(() => changes.value++, listedAfterMs);
  soon ??= setTimeout(() => {
    soon = undefined;
    changes.value++;
  }, gatherMs);
}

/** Reloads the lists of waiting messages if the message, which a stream delivered, can be one of them. */
export function noticeWaiting({ requires_ack, acknowledged_at }: Message): void {
  if (requires_ack || acknowledged_at !== null) waitingChanged();
}

function findWaiting(topic?: string): Promise<WaitingMessage[]> {
  const named = topic === undefined ? '' : `&topic=${encodeURIComponent(topic)}`;
  return call<WaitingMessage[]>('GET', `/api/messages/unacknowledged?limit=${waitingMax}${named}`);
}

/** Refreshes the list of all topics. Keeps it if that fails, because another refresh follows. */
export async function refreshWaiting(): Promise<void> {
  const login = session.value;
  if (login === null) return;
  const found = await findWaiting().catch(() => waiting.value);
  if (session.value !== null) waiting.value = found;
}

effect(() => {
  if (changes.value > 0) void refreshWaiting();
});
effect(() => {
  if (session.value === null) waiting.value = [];
});

/** What waits in a topic, oldest first: an account can read topics that are not in the list of all its topics. */
export function useWaiting(topic: string): { waiting: readonly WaitingMessage[]; reload: () => Promise<void> } {
  const [found, setFound] = useState<readonly WaitingMessage[]>([]);
  const isOpen = useRef(true);
  const reload = async () => {
    if (session.value === null) return;
    const now = await findWaiting(topic).catch(() => null);
    if (now !== null && isOpen.current) setFound(now);
  };
  useEffect(() => {
    void reload();
  }, [topic, changes.value]);
  useEffect(
    () => () => {
      isOpen.current = false;
    },
    [],
  );
  return { waiting: found, reload };
}
