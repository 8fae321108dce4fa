import { Link } from 'wouter-preact';
import { CopyLine } from '../../parts/copy-line.tsx';
import { keysPath } from '../../parts/paths.ts';

const example = {
  push_token: 'ExponentPushToken[xxxxxxxxxxxxxxxxxxxxxx]',
  platform: 'expo',
  device_id: 'my-phone',
  device_name: 'My phone',
};

/** How an app registers its device, and how to see pushes without one. */
export function RegisterDevice() {
  const line =
    `curl -H 'X-API-Key: YOUR_API_KEY' -H 'Content-Type: application/json' ` +
    `-d '${JSON.stringify(example)}' ${location.origin}/api/devices/register`;
  return (
    <div class="register-device">
      <p>
        An app registers its device with the push token that iOS, Android or Expo gives it (<code>platform</code> is{' '}
        <code>ios</code>, <code>android</code> or <code>expo</code>). It uses your login, or an{' '}
        <Link href={keysPath}>API key</Link> with the scope <code>account:write</code>:
      </p>
      <CopyLine text={line} label="Copy the line that registers a device" />
      <h4>Without a phone</h4>
      <p>
        The operator of this server can simulate APNs, FCM, Expo and a push service of browsers. In the directory of the
        server, run:
      </p>
      <CopyLine text="npx tocsin simulate" label="Copy the line that simulates push providers" />
      <p>
        It prints settings that belong into the file <code>.env</code> of the server. Add them and restart the server.
        The simulator then prints each push as a line of JSON. It accepts the push token above.
      </p>
    </div>
  );
}
