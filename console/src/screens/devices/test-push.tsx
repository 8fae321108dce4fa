import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { call } from '../../api/call.ts';
import type { Device } from '../../api/wire.ts';
import { completeTime, timeAgo } from '../../parts/times.ts';
import { usePolling } from '../../parts/use-polling.ts';
import { providerName } from './platforms.ts';

const pollMs = 2_000;
/** Two minutes: the server tries a test push five times within half a minute, each with a time limit. */
const pollsMax = 60;

export interface TestPush {
  /** Why the server did not queue the push; null if it did. */
  readonly refusal: string | null;
  readonly isSending: boolean;
  readonly send: () => Promise<void>;
}

/** Sends a test push. `reload` then shows it in the device. */
export function useTestPush({ id }: Pick<Device, 'id'>, reload: () => Promise<void>): TestPush {
  const [refusal, setRefusal] = useState<string | null>(null);
  const [isSending, setSending] = useState(false);
  const send = async () => {
    setSending(true);
    try {
      await call('POST', `/api/devices/${id}/test`);
      setRefusal(null);
    } catch (error) {
      setRefusal((error as Error).message);
    }
    await reload();
    setSending(false);
  };
  return { refusal, isSending, send };
}

interface TestPushNoteProps {
  readonly device: Device;
  readonly refusal: string | null;
  readonly reload: () => Promise<void>;
}

/** The outcome of the last test push, which it waits for. */
export function TestPushNote({ device, refusal, reload }: TestPushNoteProps) {
  const { last_test: test } = device;
  return (
    <div class="test-push" role="status">
      {refusal !== null ? (
        <>
          <span class="badge failed">not sent</span> {refusal}
        </>
      ) : (
        test !== null && (
          <>
            <span class={`badge ${test.status}`}>{test.status.replace('_', ' ')}</span>{' '}
            <OutcomeText device={device} test={test} />{' '}
            <time class="soft" title={completeTime(test.requested_at)}>
              Test push of {timeAgo(test.requested_at)}.
            </time>
          </>
        )
      )}
      {test?.status === 'queued' && <Watch key={test.requested_at} device={device} reload={reload} />}
    </div>
  );
}

type Test = NonNullable<Device['last_test']>;

function OutcomeText({ device, test }: { readonly device: Device; readonly test: Test }): ComponentChildren {
  const provider = providerName(device.platform);
  switch (test.status) {
    case 'queued':
      return test.reason === null
        ? `The server sends it to ${provider} within seconds.`
        : `${test.reason}. The server retries.`;
    case 'sent':
      return `${sentenceStart(provider)} accepted it. If the device shows nothing, check its settings for notifications.`;
    case 'dead_token':
      return `${sentenceStart(provider)} reported the push token as dead${device.is_active ? '' : ', so the device is inactive now'}: ${test.reason}.`;
    case 'failed':
      return `${test.reason}.`;
  }
}

const sentenceStart = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

/** Looks for the outcome while the page is visible, and states it when it gives up. */
function Watch({ device: { id, last_test: shown }, reload }: Omit<TestPushNoteProps, 'refusal'>) {
  const [polls, setPolls] = useState(0);
  const isOver = polls >= pollsMax;
  usePolling(async () => {
    if (isOver) return;
    setPolls((count) => count + 1);
    // The next poll can succeed.
    const device = await call<Device>('GET', `/api/devices/${id}`).catch(() => null);
    if (device !== null && device.last_test?.updated_at !== shown?.updated_at) await reload();
  }, pollMs);
  return isOver ? <p class="soft">No outcome so far. Reload the page to see a later one.</p> : null;
}
