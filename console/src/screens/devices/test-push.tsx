import { useEffect, useRef, useState } from 'preact/hooks';
import { call } from '../../api/call.ts';
import type { Device } from '../../api/wire.ts';
import { providerName } from './platforms.ts';

type Outcome =
  | { readonly state: 'sending' }
  | { readonly state: 'refused'; readonly reason: string }
  | { readonly state: 'queued' }
  | { readonly state: 'dead' };

interface TestPush {
  readonly outcome: Outcome | null;
  readonly isSending: boolean;
  readonly send: () => Promise<void>;
}

/**
 * Pauses before each check of the device. The server does not record the outcome of a test push, but it deactivates a
 * device whose push token is dead. It tries a test push five times within half a minute.
 */
const pausesMs = [1_000, 2_000, 4_000, 8_000, 16_000];

/** Sends a test push. `reload` is called when the state of the device changed. */
export function useTestPush({ id }: Device, reload: () => Promise<void>): TestPush {
  const [outcome, setOutcome] = useState<Outcome | null>(null);
  const current = useRef(0);
  useEffect(
    () => () => {
      current.current++;
    },
    [],
  );
  const send = async () => {
    const turn = ++current.current;
    setOutcome({ state: 'sending' });
    try {
      await call('POST', `/api/devices/${id}/test`);
    } catch (error) {
      setOutcome({ state: 'refused', reason: (error as Error).message });
      return;
    }
    setOutcome({ state: 'queued' });
    if (!(await becomesInactive(id, () => turn === current.current))) return;
    setOutcome({ state: 'dead' });
    await reload();
  };
  return { outcome, isSending: outcome?.state === 'sending', send };
}

/** Whether the provider reported the push token as dead, as far as that is known within half a minute. */
async function becomesInactive(id: string, isWaiting: () => boolean): Promise<boolean> {
  for (const ms of pausesMs) {
    await new Promise((resolve) => setTimeout(resolve, ms));
    if (!isWaiting()) return false;
    const device = await call<Device>('GET', `/api/devices/${id}`).catch(() => null);
    if (device === null || !isWaiting()) return false;
    if (!device.is_active) return true;
  }
  return false;
}

interface TestPushNoteProps {
  readonly device: Device;
  readonly outcome: Outcome | null;
}

export function TestPushNote({ device, outcome }: TestPushNoteProps) {
  return (
    <div class="test-push" role="status">
      {outcome !== null && <OutcomeText outcome={outcome} provider={providerName(device.platform)} />}
    </div>
  );
}

function OutcomeText({ outcome, provider }: { readonly outcome: Outcome; readonly provider: string }) {
  switch (outcome.state) {
    case 'sending':
      return <span class="badge">sending …</span>;
    case 'refused':
      return (
        <>
          <span class="badge failed">not sent</span> {outcome.reason}
        </>
      );
    case 'dead':
      return (
        <>
          <span class="badge dead_token">dead token</span> {provider} reported the push token as dead, so the device is
          inactive now.
        </>
      );
    case 'queued':
      return (
        <>
          <span class="badge">queued</span> The server sends it to {provider} within seconds and does not record whether{' '}
          {provider} accepts it. If the device shows nothing, publish a message to a topic that you subscribe to: “Why
          did I get or not get a push?” next to the message shows the response of {provider}.
        </>
      );
  }
}
