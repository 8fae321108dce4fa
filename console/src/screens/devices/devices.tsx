import { call } from '../../api/call.ts';
import type { Device } from '../../api/wire.ts';
import { Section } from '../../parts/card.tsx';
import { Loading } from '../../parts/loading.tsx';
import { isRemoved } from '../../parts/removals.ts';
import { useLoad } from '../../parts/use-load.ts';
import { DeviceRow } from './device-row.tsx';
import { RegisterDevice } from './register-device.tsx';
import { ThisBrowser } from './this-browser.tsx';
import './devices.css';

/** The devices that get the account's pushes. */
export function Devices() {
  const { loaded, reload } = useLoad(() => call<Device[]>('GET', '/api/devices/my'), 'devices');
  return (
    <div class="page settings-page">
      <h1>Devices</h1>
      <ThisBrowser reloadDevices={reload} />
      <Section title="Phones, tablets and browsers" hint="They get the pushes of the topics that you subscribe to.">
        <Loading loaded={loaded} retry={reload} rows={3}>
          {(devices) => <DeviceList devices={devices.filter((one) => !isRemoved(one))} reload={reload} />}
        </Loading>
      </Section>
    </div>
  );
}

interface DeviceListProps {
  readonly devices: readonly Device[];
  readonly reload: () => Promise<void>;
}

function DeviceList({ devices, reload }: DeviceListProps) {
  if (devices.length === 0)
    return (
      <div class="card no-devices">
        <h3>No device is registered</h3>
        <RegisterDevice />
      </div>
    );
  return (
    <>
      <ul class="rows">
        {devices.map((device) => (
          <DeviceRow key={device.id} device={device} reload={reload} />
        ))}
      </ul>
      <details class="create">
        <summary>Register another device …</summary>
        <div class="card">
          <RegisterDevice />
        </div>
      </details>
    </>
  );
}
