import { expect, test } from '@jest/globals';
import { eventually } from '@tocsin/shared/testing/eventually.ts';
import type { Page, Worker } from 'playwright-core';
import { describeUnlessMissing } from '../../tools/test/describe-unless-missing.ts';
import { missingForChromium, useChromium } from '../support/chromium.ts';
import { createAccount, createTopic, type Account } from '../support/stack.ts';
import { useWebPushStack } from '../support/use-web-push-stack.ts';

const { service, stack, store } = await useWebPushStack();

/**
 * Replaces the Push API and the permission of a page: Chromium without windows has no push service and always denies
 * notifications. Subscribing returns the next of the given subscriptions, which are at the simulator, and survives
 * reloads.
 */
const fakePushManager = (subscriptions: readonly string[], permission: string): string => `
  const key = Uint8Array.from(atob('${service.vapid.publicKey.replaceAll('-', '+').replaceAll('_', '/')}'), (one) => one.charCodeAt(0));
  const current = () => {
    const text = localStorage.getItem('test.subscription');
    if (text === null) return null;
    const json = JSON.parse(text);
    const unsubscribe = async () => localStorage.removeItem('test.subscription');
    return { ...json, options: { applicationServerKey: key.buffer }, toJSON: () => json, unsubscribe };
  };
  PushManager.prototype.getSubscription = async () => current();
  PushManager.prototype.subscribe = async ({ userVisibleOnly, applicationServerKey }) => {
    if (!userVisibleOnly || String(applicationServerKey) !== String(key)) throw new Error('wrong options');
    const used = Number(localStorage.getItem('test.used') ?? 0);
    localStorage.setItem('test.used', used + 1);
    localStorage.setItem('test.subscription', ${JSON.stringify(subscriptions)}[used]);
    return current();
  };
  Object.defineProperty(Notification, 'permission', { get: () => localStorage.getItem('test.permission') ?? '${permission}' });
  Notification.requestPermission = async () => {
    localStorage.setItem('test.permission', 'granted');
    return 'granted';
  };
`;

describeUnlessMissing('in Chromium', missingForChromium(), () => {
  const chromium = useChromium(() => stack.urls[0]!);

  interface Opened {
    readonly owner: Account;
    readonly page: Page;
    readonly topic: string;
    readonly subscriptions: readonly string[];
  }

  /** Opens the notifications of a topic to which the account subscribes. */
  async function openNotifications(permission = 'default'): Promise<Opened> {
    const owner = await createAccount(store, { tier: 'TEAM', urls: stack.urls });
    const { name } = await createTopic(owner);
    await owner.client.call('POST', '/api/subscriptions', { json: { topic_name: name } });
    const page = await chromium.open('/console/login');
    const subscriptions = [service.newSubscription(), service.newSubscription()];
    await page.addInitScript({ content: fakePushManager(subscriptions, permission) });
    await page.goto(
      `${stack.urls[0]}/console/login?next=${encodeURIComponent(`/console/topics/${name}/notifications`)}`,
    );
    await page.getByLabel('Email').fill(owner.email);
    await page.getByLabel('Password').fill(owner.password);
    await page.keyboard.press('Enter');
    await page.getByRole('region', { name: 'This browser' }).waitFor();
    return { owner, page, topic: name, subscriptions };
  }

  const devicesOf = async ({ client }: Account) =>
    (await client.call('GET', '/api/devices/my')).body as { platform: string; push_token: string }[];

  async function turnOn(page: Page): Promise<void> {
    await page.getByRole('button', { name: 'Turn on notifications' }).click();
    await page.getByText('This browser shows new messages, even while Tocsin is closed.').waitFor();
  }

  test('a click makes the browser a device, which receives messages until it is turned off', async () => {
    const { owner, page, topic, subscriptions } = await openNotifications();
    expect(await devicesOf(owner)).toEqual([]);
    await turnOn(page);
    expect(await devicesOf(owner)).toMatchObject([{ platform: 'web', push_token: subscriptions[0], is_active: true }]);
    const { body } = await owner.client.call('POST', `/${topic}`, { text: 'the pump stopped' });
    await eventually(() =>
      expect(service.pushes.filter(({ token }) => token === subscriptions[0])).toMatchObject([{ messageId: body.id }]),
    );
    await page.reload();
    await page.getByRole('button', { name: 'Turn off' }).click();
    await page.getByRole('button', { name: 'Turn on notifications' }).waitFor();
    expect(await devicesOf(owner)).toEqual([]);
  });

  test('sends a test notification to this browser', async () => {
    const { page, subscriptions } = await openNotifications();
    await turnOn(page);
    await page.getByRole('button', { name: 'Send a test' }).click();
    await eventually(() =>
      expect(service.pushes.filter(({ token }) => token === subscriptions[0])).toMatchObject([
        { payload: { data: { test: true } } },
      ]),
    );
  });

  test('the page explains how to allow notifications that the browser blocks', async () => {
    const { page } = await openNotifications('denied');
    await page.getByText('The browser blocks notifications of this site.').waitFor();
    expect(await page.getByRole('button', { name: 'Turn on notifications' }).count()).toBe(0);
  });

  test('the page explains that a browser without the Push API gets no notifications', async () => {
    const { page } = await openNotifications();
    await page.addInitScript({ content: 'delete window.PushManager;' });
    await page.reload();
    await page.getByText('This browser cannot receive notifications of this site.').waitFor();
    expect(await page.getByRole('button', { name: 'Turn on notifications' }).count()).toBe(0);
  });

  test('a log-out ends the pushes to the browser', async () => {
    const { owner, page } = await openNotifications();
    await turnOn(page);
    await page.getByRole('button', { name: 'Log out' }).click();
    await page.getByRole('heading', { name: 'Log in' }).waitFor();
    expect(await devicesOf(owner)).toEqual([]);
    expect(await page.evaluate("localStorage.getItem('test.subscription')")).toBeNull();
  });

  test('a subscription that the browser renewed replaces the former one', async () => {
    const { owner, page, subscriptions } = await openNotifications();
    await turnOn(page);
    await page.evaluate(`localStorage.setItem('test.subscription', ${JSON.stringify(subscriptions[1])})`);
    await page.reload();
    await eventually(async () => expect(await devicesOf(owner)).toMatchObject([{ push_token: subscriptions[1] }]));
  });

  test('the switch of the topic decides about browsers', async () => {
    const { owner, page } = await openNotifications();
    await page.getByLabel('Notify my browsers').uncheck();
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Saved.').waitFor();
    const { body } = await owner.client.call('GET', '/api/subscriptions');
    expect(body.subscriptions).toMatchObject([
      { web_notifications_enabled: false, mobile_notifications_enabled: true },
    ]);
    await page.reload();
    expect(await page.getByLabel('Notify my browsers').isChecked()).toBe(false);
  });

  /**
   * Delivers a push to the service worker, as the browser does for its push service. The worker's notifications are
   * recorded, because this Chromium denies them.
   */
  async function deliver(page: Page, data: string): Promise<Worker> {
    const session = await page.context().newCDPSession(page);
    const registered = Promise.withResolvers<string>();
    session.on('ServiceWorker.workerRegistrationUpdated', ({ registrations: [one] }) => {
      if (one !== undefined) registered.resolve(one.registrationId);
    });
    await session.send('ServiceWorker.enable');
    await eventually(() => page.context().serviceWorkers().length > 0);
    const worker = page.context().serviceWorkers()[0]!;
    await worker.evaluate(`
      self.shown = [];
      self.registration.showNotification = async (title, options) => void self.shown.push({ title, ...options });`);
    const registrationId = await registered.promise;
    await session.send('ServiceWorker.deliverPushMessage', { origin: stack.urls[0]!, registrationId, data });
    return worker;
  }

  test('the service worker shows a push silently or with vibration', async () => {
    const { page } = await openNotifications();
    await turnOn(page);
    const push = { title: 'Pump', body: 'the pump stopped', data: { message_id: 'm-1', topic: 'pumps' }, tag: 'm-1' };
    const images = { icon: '/assets/icon-192.png', badge: '/assets/badge-96.png' };
    const worker = await deliver(page, JSON.stringify({ ...push, silent: true, vibrates: true }));
    await eventually(async () =>
      expect(await worker.evaluate('self.shown')).toEqual([{ ...push, ...images, silent: true, renotify: false }]),
    );
    await deliver(page, JSON.stringify({ ...push, silent: false, vibrates: true }));
    await eventually(async () =>
      expect(await worker.evaluate('self.shown')).toEqual([
        { ...push, ...images, silent: false, renotify: true, vibrate: [200, 100, 200] },
      ]),
    );
  });

  test('the service worker also shows a push that it cannot read, because browsers require it', async () => {
    const { page } = await openNotifications();
    await turnOn(page);
    for (const data of ['', 'no JSON', 'null', '[]', '{"title":1}']) {
      const worker = await deliver(page, data);
      await eventually(async () =>
        expect(await worker.evaluate('self.shown')).toMatchObject([{ title: 'Tocsin', body: 'A message arrived' }]),
      );
    }
  });

  test('a click on a notification opens the topic at the message', async () => {
    const { owner, page, topic } = await openNotifications();
    await turnOn(page);
    const { body: message } = await owner.client.call('POST', `/${topic}`, { text: 'the pump stopped' });
    const worker = await deliver(page, '{}');
    // Only the browser can create this event and allow a focus.
    await worker.evaluate(`
      const notification = { data: ${JSON.stringify({ topic, message_id: message.id })}, close: () => (self.isClosed = true) };
      const waitUntil = (promise) => promise.catch(() => undefined);
      self.dispatchEvent(Object.defineProperties(new Event('notificationclick'), { notification: { value: notification }, waitUntil: { value: waitUntil } }));`);
    await page.waitForURL((url) => url.pathname === `/console/topics/${topic}`);
    await page.locator(`[id="message-${message.id}"]:focus`).getByText('the pump stopped').waitFor();
    expect(await worker.evaluate('self.isClosed')).toBe(true);
  });

  test('the console can be installed', async () => {
    const page = await chromium.open('/console/login');
    const session = await page.context().newCDPSession(page);
    const { errors, url } = await session.send('Page.getAppManifest');
    expect([errors, url]).toEqual([[], `${stack.urls[0]}/assets/manifest.webmanifest`]);
    const { installabilityErrors } = await session.send('Page.getInstallabilityErrors');
    expect(installabilityErrors.filter(({ errorId }) => errorId !== 'in-incognito')).toEqual([]);
  });

  test('the icon of the installed console shows the number of unread messages', async () => {
    const { owner, page, topic } = await openNotifications();
    await page.addInitScript({
      content: 'navigator.setAppBadge = async (count) => void (document.documentElement.dataset.badge = count);',
    });
    await owner.client.call('POST', `/${topic}`, { text: 'one' });
    await owner.client.call('POST', `/${topic}`, { text: 'two' });
    await page.reload();
    await eventually(async () => expect(await page.locator('html').getAttribute('data-badge')).toBe('2'));
  });
});
