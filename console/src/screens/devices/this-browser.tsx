import { useState } from 'preact/hooks';
import { call } from '../../api/call.ts';
import { vapidKey } from '../../api/features.ts';
import { Section } from '../../parts/card.tsx';
import { Loading } from '../../parts/loading.tsx';
import { toast, toastError } from '../../parts/toasts.tsx';
import { useLoad } from '../../parts/use-load.ts';
import { browserPush, turnOffPushes, turnOnPushes, type BrowserPush } from '../../state/browser-push.ts';
import './this-browser.css';

interface ThisBrowserProps {
  /** For a page that shows the devices: called after a change of this one, or a test push to it. */
  readonly reloadDevices?: () => Promise<void>;
}

/** Whether this browser receives pushes, and a switch. Nothing if the server does not push to browsers. */
export function ThisBrowser({ reloadDevices }: ThisBrowserProps) {
  const { loaded, reload } = useLoad(browserPush, 'this-browser');
  if (vapidKey === '') return null;
  return (
    <Section title="This browser">
      <Loading loaded={loaded} retry={reload} rows={1}>
        {(push) => <Switch push={push} reload={() => Promise.all([reload(), reloadDevices?.()])} />}
      </Loading>
    </Section>
  );
}

const texts: Readonly<Record<BrowserPush['state'], string>> = {
  unsupported:
    'This browser cannot receive notifications of this site. On an iPhone or iPad, add Tocsin to the Home Screen first.',
  blocked: 'The browser blocks notifications of this site. Allow them in its settings for this site, then reload.',
  off: 'Notifications are off in this browser.',
  on: 'This browser shows new messages, even while Tocsin is closed.',
};

function Switch({ push, reload }: { readonly push: BrowserPush; readonly reload: () => Promise<unknown> }) {
  const [isBusy, setBusy] = useState(false);
  const run = async (act: () => Promise<unknown>, text: string) => {
    setBusy(true);
    try {
      await act();
      toast(text);
    } catch (error) {
      toastError(error);
    } finally {
      setBusy(false);
      await reload();
    }
  };
  return (
    <div class="card this-browser">
      <p role="status">{texts[push.state]}</p>
      <div class="form-actions">
        {push.state === 'off' && (
          <button
            type="button"
            class="button primary"
            disabled={isBusy}
            onClick={() => void run(turnOnPushes, 'This browser shows new messages.')}
          >
            Turn on notifications
          </button>
        )}
        {push.state === 'on' && (
          <>
            <button
              type="button"
              class="button"
              disabled={isBusy}
              onClick={() =>
                void run(() => call('POST', `/api/devices/${push.deviceId}/test`), 'A test notification is on its way.')
              }
            >
              Send a test
            </button>
            <button
              type="button"
              class="button"
              disabled={isBusy}
              onClick={() => void run(turnOffPushes, 'Notifications are off in this browser.')}
            >
              Turn off
            </button>
          </>
        )}
      </div>
    </div>
  );
}
