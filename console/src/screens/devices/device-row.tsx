import { useState } from 'preact/hooks';
import { call } from '../../api/call.ts';
import type { Device } from '../../api/wire.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { Field, Form, type FormValues } from '../../parts/form.tsx';
import { remove } from '../../parts/removals.ts';
import { RowButton } from '../../parts/row-button.tsx';
import { completeTime, timeAgo } from '../../parts/time/times.ts';
import { platformName } from './platforms.ts';
import { TestPushNote, useTestPush } from './test-push.tsx';

interface DeviceProps {
  readonly device: Device;
  readonly reload: () => Promise<void>;
}

const nameOf = ({ device_name, device_id }: Device): string => (device_name ?? '') || device_id;

export function DeviceRow({ device, reload }: DeviceProps) {
  const [isRenaming, setRenaming] = useState(false);
  const testPush = useTestPush(device, reload);
  const name = nameOf(device);
  const onRemove = () =>
    remove({
      id: device.id,
      path: `/api/devices/${device.id}`,
      text: (
        <>
          The device <bdi>{name}</bdi> is removed.
        </>
      ),
    });
  return (
    <li class="device">
      <div class="grow">
        <div class="row-title">
          <span dir="auto">{name}</span>
          {device.is_active ? <span class="badge sent">active</span> : <span class="badge failed">inactive</span>}
        </div>
        <DeviceFacts device={device} />
      </div>
      <div class="row-actions">
        <RowButton text="Test push" name={name} isBusy={testPush.isSending} onClick={() => void testPush.send()} />
        <RowButton text="Rename" name={name} onClick={() => setRenaming(true)} />
        <RowButton text="Remove" name={name} onClick={onRemove} />
      </div>
      <TestPushNote device={device} refusal={testPush.refusal} reload={reload} />
      {isRenaming && <RenameDevice device={device} reload={reload} onClose={() => setRenaming(false)} />}
    </li>
  );
}

function DeviceFacts({ device }: { readonly device: Device }) {
  const { platform, app_version: version, created_at: registered, last_seen: seen, is_active: isActive } = device;
  return (
    <>
      <div class="soft">
        {platformName(platform)}
        {version !== null && version !== '' && (
          <>
            {' '}
            · app <bdi>{version}</bdi>
          </>
        )}{' '}
        · <time title={completeTime(registered)}>registered {timeAgo(registered)}</time> ·{' '}
        <time title={completeTime(seen)}>updated {timeAgo(seen)}</time>
      </div>
      {!isActive && (
        <p class="soft">
          The provider rejected its push token as dead. Open the app, which registers the device again.
        </p>
      )}
    </>
  );
}

function RenameDevice({ device, reload, onClose }: DeviceProps & { readonly onClose: () => void }) {
  const save = async (values: FormValues) => {
    await call('PUT', `/api/devices/${device.id}`, { json: { device_name: values.text('device_name').trim() } });
    onClose();
    await reload();
  };
  return (
    <Dialog title="Rename the device" onClose={onClose}>
      <Form action="Rename" send={save}>
        <Field
          id="device_name"
          label="Name"
          dir="auto"
          autofocus
          required
          maxLength={100}
          autocomplete="off"
          defaultValue={nameOf(device)}
          hint="An app that sends a name of its own replaces this one when it registers again."
        />
      </Form>
    </Dialog>
  );
}
