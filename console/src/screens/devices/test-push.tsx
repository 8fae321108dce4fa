import { useState } from 'preact/hooks';
import { call } from '../../api/call.ts';
import type { Device } from '../../api/wire.ts';
import { completeTime, timeAgo } from '../../parts/time/times.ts';
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
            <time class="soft" title={completeTime(test.requested_at)}>
              Test push {timeAgo(test.requested_at)}:
            </time>{' '}
            {outcomeText(test, providerName(device.platform))}
          </>
        )
      )}
      {test?.status === 'queued' && <Watch key={test.requested_at} device={device} reload={reload} />}
    </div>
  );
}

function outcomeText({ status, reason }: NonNullable<Device['last_test']>, provider: string): string {
  switch (status) {
    case 'queued':
      return reason === null ? `the server sends it to ${provider} within seconds.` : `${reason}. The server retries.`;
    case 'sent':
      return `${provider} accepted it. If the device shows nothing, check its settings for notifications.`;
    case 'dead_token':
      return `${provider} reported the push token as dead: ${reason}.`;
    case 'failed':
      return `${reason}.`;
  }
}

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
