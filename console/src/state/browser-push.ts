import { call, CallFailed } from '../api/call.ts';
import { vapidKey } from '../api/features.ts';
import { session } from '../api/session.ts';
import type { Device } from '../api/wire.ts';
import { deviceName } from '../parts/device-name.ts';

/** Whether this browser receives pushes of the account. */
export type BrowserPush =
  { readonly state: 'unsupported' | 'blocked' | 'off' } | { readonly state: 'on'; readonly deviceId: string };

/** The device that this browser registered, in the local storage, which all tabs and logins share. */
interface RegisteredBrowser {
  readonly deviceId: string;
  readonly userId: string;
  readonly endpoint: string;
}

const workerPath = '/console/service-worker.js';
const registeredAs = 'tocsin.browser';
const idStoredAs = 'tocsin.browser-id';

/** A log-out does not wait longer for the push service of the browser. */
const leaveMsMax = 3_000;

const isSupported = (): boolean => 'serviceWorker' in navigator && 'PushManager' in window && 'Notification' in window;

export async function browserPush(): Promise<BrowserPush> {
  if (!isSupported()) return { state: 'unsupported' };
  if (Notification.permission === 'denied') return { state: 'blocked' };
  const subscription = await currentSubscription();
  if (subscription === null || !usesCurrentKey(subscription)) return { state: 'off' };
  const device = await deviceOf(subscription);
  return device?.is_active === true ? { state: 'on', deviceId: device.id } : { state: 'off' };
}

/** Asks for the permission, which browsers only allow after a click, and registers this browser as a device. */
export async function turnOnPushes(): Promise<void> {
  if ((await Notification.requestPermission()) !== 'granted')
    throw new Error('The browser did not allow notifications of this site.');
  const worker = await activeWorker();
  // Never the subscription of another account or of a former key.
  await (await worker.pushManager.getSubscription())?.unsubscribe();
  const subscription = await subscribe(worker);
  try {
    const device = await call<Device>('POST', '/api/devices/register', {
      json: {
        push_token: JSON.stringify(subscription),
        platform: 'web',
        device_id: browserId(),
        device_name: deviceName(navigator.userAgent).slice(0, 100),
      },
    });
    remember({ deviceId: device.id, userId: device.user_id, endpoint: subscription.endpoint });
  } catch (error) {
    await subscription.unsubscribe();
    throw error;
  }
}

export async function turnOffPushes(): Promise<void> {
  const subscription = await currentSubscription();
  if (subscription === null) return;
  const device = await deviceOf(subscription);
  if (device !== undefined) await removeDevice(device.id);
  await subscription.unsubscribe();
  remember(null);
}

/** Ends the pushes of the account that logs out. Its other devices and other accounts stay as they are. */
export async function leaveBrowser(): Promise<void> {
  const known = registered();
  if (known === null || known.userId !== session.value?.user?.id) return;
  remember(null);
  const leave = async () => {
    await Promise.all([
      currentSubscription().then((subscription) => subscription?.unsubscribe()),
      removeDevice(known.deviceId),
    ]);
  };
  await Promise.race([leave(), new Promise((resolve) => setTimeout(resolve, leaveMsMax))]);
}

/** Renews the registration if the browser or the server changed the subscription meanwhile. */
export async function keepBrowserRegistered(): Promise<void> {
  const known = registered();
  if (!isSupported() || vapidKey === '' || known === null || known.userId !== session.value?.user?.id) return;
  if (Notification.permission !== 'granted') return;
  const worker = await activeWorker();
  const current = await worker.pushManager.getSubscription();
  if (current !== null && !usesCurrentKey(current)) await current.unsubscribe();
  const subscription = current !== null && usesCurrentKey(current) ? current : await subscribe(worker);
  if (subscription.endpoint === known.endpoint) return;
  try {
    await call('PUT', `/api/devices/${known.deviceId}`, { json: { push_token: JSON.stringify(subscription) } });
    remember({ ...known, endpoint: subscription.endpoint });
  } catch (error) {
    if (!(error instanceof CallFailed) || error.status !== 404) throw error;
    // The device was removed elsewhere.
    await subscription.unsubscribe();
    remember(null);
  }
}

async function currentSubscription(): Promise<PushSubscription | null> {
  if (!isSupported()) return null;
  const worker = await navigator.serviceWorker.getRegistration(workerPath);
  return (await worker?.pushManager.getSubscription()) ?? null;
}

/** Resolves when the worker can receive pushes. */
async function activeWorker(): Promise<ServiceWorkerRegistration> {
  const registration = await navigator.serviceWorker.register(workerPath);
  const starting = registration.installing ?? registration.waiting;
  if (registration.active === null && starting !== null)
    await new Promise<void>((resolve, reject) => {
      starting.addEventListener('statechange', () => {
        if (starting.state === 'activated') resolve();
        if (starting.state === 'redundant') reject(new Error('The browser rejected the service worker.'));
      });
    });
  return registration;
}

async function subscribe(worker: ServiceWorkerRegistration): Promise<PushSubscription> {
  try {
    return await worker.pushManager.subscribe({ userVisibleOnly: true, applicationServerKey: bytesOf(vapidKey) });
  } catch (error) {
    throw new Error(`The push service of the browser refused: ${(error as Error).message}`, { cause: error });
  }
}

function usesCurrentKey({ options: { applicationServerKey: key } }: PushSubscription): boolean {
  return key !== null && String(new Uint8Array(key)) === String(bytesOf(vapidKey));
}

async function deviceOf({ endpoint }: PushSubscription): Promise<Device | undefined> {
  const devices = await call<Device[]>('GET', '/api/devices/my');
  return devices.find(({ platform, push_token }) => platform === 'web' && endpointOf(push_token) === endpoint);
}

const endpointOf = (pushToken: string): string => (JSON.parse(pushToken) as PushSubscriptionJSON).endpoint ?? '';

async function removeDevice(id: string): Promise<void> {
  try {
    await call('DELETE', `/api/devices/${id}`);
  } catch (error) {
    if (!(error instanceof CallFailed) || error.status !== 404) throw error;
  }
}

function bytesOf(base64url: string): Uint8Array<ArrayBuffer> {
  const text = atob(base64url.replaceAll('-', '+').replaceAll('_', '/'));
  return Uint8Array.from(text, (character) => character.charCodeAt(0));
}

function registered(): RegisteredBrowser | null {
  return JSON.parse(localStorage.getItem(registeredAs) ?? 'null') as RegisteredBrowser | null;
}

function remember(browser: RegisteredBrowser | null): void {
  if (browser === null) localStorage.removeItem(registeredAs);
  else localStorage.setItem(registeredAs, JSON.stringify(browser));
}

/** The same for all registrations of this browser, so that they update one device. */
function browserId(): string {
  const id = localStorage.getItem(idStoredAs) ?? crypto.randomUUID();
  localStorage.setItem(idStoredAs, id);
  return id;
}
