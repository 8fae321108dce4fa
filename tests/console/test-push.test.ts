import { afterAll, expect, test } from '@jest/globals';
import { newPushToken } from '@tocsin/shared/testing/builders.ts';
import { eventually } from '@tocsin/shared/testing/eventually.ts';
import { startExpoSimulator } from '@tocsin/simulators/expo-simulator.ts';
import { describeUnlessMissing } from '../../tools/test/describe-unless-missing.ts';
import { missingForChromium, useChromium } from '../support/chromium.ts';
import { openConsole } from '../support/open-console.ts';
import { createAccount } from '../support/stack.ts';
import { useOwnStack } from '../support/use-own-stack.ts';

const expo = await startExpoSimulator();
const { stack, store } = await useOwnStack({ EXPO_URL: expo.url, TRUST_PROXY: '1' });
afterAll(() => expo.close());

describeUnlessMissing('in Chromium', missingForChromium(), () => {
  const chromium = useChromium(() => stack.urls[0]!);

  async function openWithDevice(token: string) {
    const person = await createAccount(store, { urls: stack.urls });
    const device = { push_token: token, platform: 'expo', device_id: 'phone', device_name: 'Phone' };
    await person.client.call('POST', '/api/devices/register', { json: device });
    return openConsole(chromium, person, '/console/devices');
  }

  test('a test push from the console reaches the device and is shown as sent, also after a reload', async () => {
    const token = newPushToken.expo();
    // The server retries two seconds later.
    expo.script(token, { kind: 'ticket-error', error: 'MessageRateExceeded' }, { kind: 'ok' });
    const page = await openWithDevice(token);
    await page.getByRole('button', { name: 'Test push' }).click();
    await page.getByText('queued', { exact: true }).waitFor();
    await page.getByText('sent Test push just now: Expo accepted it.').waitFor();
    expect(expo.pushes.filter((push) => push.token === token)).toHaveLength(1);
    await page.reload();
    await page.getByText('sent Test push just now: Expo accepted it.').waitFor();
  });

  test('a rejected test push shows the reason of the provider', async () => {
    const token = newPushToken.expo();
    expo.script(token, { kind: 'ticket-error', error: 'MessageTooBig' });
    const page = await openWithDevice(token);
    await page.getByRole('button', { name: 'Test push' }).click();
    await page.getByText(/^failed Test push just now: MessageTooBig/).waitFor();
    await page.getByText('active', { exact: true }).waitFor();
  });

  test('the page asks for the outcome only while it is visible, for two minutes', async () => {
    const token = newPushToken.expo();
    expo.script(token, { kind: 'ticket-error', error: 'MessageRateExceeded' });
    const page = await openWithDevice(token);
    await page.clock.install();
    let polls = 0;
    page.on('request', (request) => {
      if (/\/api\/devices\/[0-9a-f-]{36}$/.test(request.url())) polls += 1;
    });
    await page.evaluate(`Object.defineProperty(document, 'visibilityState', { value: 'hidden', configurable: true })`);
    await page.getByRole('button', { name: 'Test push' }).click();
    await page.getByText('queued', { exact: true }).waitFor();
    await page.clock.runFor(60_000);
    expect(polls).toBe(0);
    await page.evaluate('delete document.visibilityState');
    await eventually(async () => {
      await page.clock.runFor(2_000);
      return page.getByText('No outcome so far.').isVisible();
    });
    expect(polls).toBe(60);
  });

  test('a test push to a dead token shows that the device is now inactive', async () => {
    const token = newPushToken.expo();
    expo.script(token, { kind: 'ticket-error', error: 'DeviceNotRegistered' });
    const page = await openWithDevice(token);
    chromium.expectRefusals();
    await page.getByRole('button', { name: 'Test push' }).click();
    await page.getByText('Expo reported the push token as dead').waitFor();
    await page.getByText('inactive', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Test push' }).click();
    await page.getByText('not sent Device is inactive').waitFor();
  });
});
