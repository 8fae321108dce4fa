import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { promisify } from 'node:util';
import { expect, test } from '@jest/globals';
import { eventually } from '@tocsin/shared/testing/eventually.ts';
import type { Page } from 'playwright-core';
import { describeUnlessMissing } from '../../tools/test/describe-unless-missing.ts';
import { missingForChromium, useChromium } from '../support/chromium.ts';
import { openConsole } from '../support/open-console.ts';
import { useStack, type Person } from '../support/use-stack.ts';

const run = promisify(execFile);
const override = '\u202E';

/** Whether a toast sets the text after the name from left to right. */
const isInOrder = `(() => {
  const rest = document.querySelector('.toast > span').lastChild;
  const leftOf = (index) => {
    const range = document.createRange();
    range.setStart(rest, index);
    range.setEnd(rest, index + 1);
    return range.getBoundingClientRect().left;
  };
  return rest.textContent === ' is removed.' && leftOf(4) < leftOf(5);
})()`;

describeUnlessMissing('in Chromium', missingForChromium(), () => {
  const stack = useStack();
  const chromium = useChromium();

  async function register(person: Person, fields: object = {}): Promise<string> {
    const device = { push_token: `ExponentPushToken[${randomUUID()}]`, platform: 'expo', device_id: randomUUID() };
    const { status, body } = await person.post('/api/devices/register', { ...device, ...fields });
    expect(status).toBe(201);
    return body.id;
  }

  async function openDevices(person: Person): Promise<Page> {
    const page = await openConsole(chromium, person, '/console/devices');
    await page.getByRole('heading', { name: 'Devices' }).waitFor();
    return page;
  }

  const button = (page: Page, action: string, device: string) =>
    page.getByRole('button', { name: `${action} : ${device}` });

  test('an account without devices sees a command that registers one', async () => {
    const person = await stack.person();
    const { body } = await person.post('/api/keys', { name: 'app', scopes: ['account:write'] });
    const page = await openDevices(person);
    await page.getByRole('heading', { name: 'No device is registered' }).waitFor();
    const line = await page.locator('.copy-line code').first().textContent();
    await run('sh', ['-c', line!.replace('YOUR_API_KEY', body.key)]);
    await page.reload();
    await page.getByText('My phone').first().waitFor();
    await page.getByText('npx tocsin simulate').waitFor({ state: 'attached' });
  });

  test('lists each device with its platform, version and state', async () => {
    const person = await stack.person();
    await register(person, { platform: 'ios', device_name: 'Pocket', app_version: '2.1' });
    await register(person, { platform: 'android', device_id: 'nameless' });
    const page = await openDevices(person);
    await page.locator('.device').first().waitFor();
    const rows = await page.locator('.device > .grow').allInnerTexts();
    expect(rows.map((row) => row.replaceAll(/\s+/g, ' '))).toEqual([
      'nameless active Android · registered just now · updated just now',
      'Pocket active iOS · app 2.1 · registered just now · updated just now',
    ]);
  });

  test('the keyboard alone renames a device, and focus returns to the button', async () => {
    const person = await stack.person();
    const id = await register(person, { device_name: 'Old name' });
    const page = await openDevices(person);
    await button(page, 'Rename', 'Old name').focus();
    await page.keyboard.press('Enter');
    await page.getByRole('dialog').waitFor();
    await page.keyboard.press('Control+a');
    await page.keyboard.type('Kitchen tablet');
    await page.keyboard.press('Enter');
    await button(page, 'Rename', 'Kitchen tablet').waitFor();
    await eventually(async () =>
      expect(await page.evaluate('document.activeElement.textContent')).toBe('Rename: Kitchen tablet'),
    );
    expect((await person.get(`/api/devices/${id}`)).body).toMatchObject({ device_name: 'Kitchen tablet' });
  });

  test('a refused name keeps the dialog open and shows the error of the server', async () => {
    const person = await stack.person();
    const id = await register(person, { device_name: 'Lost' });
    chromium.expectRefusals();
    const page = await openDevices(person);
    await button(page, 'Rename', 'Lost').click();
    await person.delete(`/api/devices/${id}`);
    await page.getByRole('textbox', { name: 'Name' }).fill('Found');
    await page.keyboard.press('Enter');
    await page.getByRole('dialog').getByText('Device not found').waitFor();
  });

  test('a removed device returns with Undo and stays registered', async () => {
    const person = await stack.person();
    const id = await register(person, { device_name: 'Phone' });
    const page = await openDevices(person);
    await button(page, 'Remove', 'Phone').click();
    await page.getByText('No device is registered').waitFor();
    await page.getByRole('button', { name: 'Undo' }).click();
    await button(page, 'Remove', 'Phone').waitFor();
    await page.reload();
    await button(page, 'Remove', 'Phone').waitFor();
    expect((await person.get(`/api/devices/${id}`)).status).toBe(200);
  });

  test('the key z undoes a removal', async () => {
    const person = await stack.person();
    await register(person, { device_name: 'Phone' });
    const page = await openDevices(person);
    await button(page, 'Remove', 'Phone').focus();
    await page.keyboard.press('Enter');
    await page.getByText('No device is registered').waitFor();
    await page.keyboard.press('z');
    await button(page, 'Remove', 'Phone').waitFor();
    expect(await page.locator('.toast').count()).toBe(0);
  });

  test('a removed device does not reappear on the way to another page, and is then deleted', async () => {
    const person = await stack.person();
    const id = await register(person, { device_name: 'Phone' });
    const page = await openDevices(person);
    await button(page, 'Remove', 'Phone').click();
    const navigation = page.getByRole('navigation');
    await navigation.getByRole('link', { name: 'Search' }).click();
    await navigation.getByRole('link', { name: 'Devices' }).click();
    await page.getByText('No device is registered').waitFor();
    await eventually(async () => expect((await person.get(`/api/devices/${id}`)).status).toBe(404));
    expect(await page.locator('.device').count()).toBe(0);
  });

  test('a removal takes effect when the page closes before the time to undo is over', async () => {
    const person = await stack.person();
    const id = await register(person, { device_name: 'Phone' });
    const page = await openDevices(person);
    await button(page, 'Remove', 'Phone').click();
    await page.getByText('The device Phone is removed.').waitFor();
    await page.goto('about:blank');
    await eventually(async () => expect((await person.get(`/api/devices/${id}`)).status).toBe(404));
  });

  test('a test push without an outcome is shown as queued, with the response to the last attempt', async () => {
    const person = await stack.person();
    await register(person, { device_name: 'Phone' });
    const page = await openDevices(person);
    await button(page, 'Test push', 'Phone').click();
    const note = page.locator('.device').getByRole('status');
    // No provider listens at the address of the tests.
    await note.getByText(/no response from Expo.* The server retries\./).waitFor();
    expect(await note.locator('.badge').textContent()).toBe('queued');
  });

  test('a refused test push shows the reason', async () => {
    const person = await stack.person();
    await register(person, { platform: 'ios', device_name: 'Phone' });
    chromium.expectRefusals();
    const page = await openDevices(person);
    await button(page, 'Test push', 'Phone').click();
    await page.getByRole('status').getByText('not sent APNs is not configured').waitFor();
  });

  test('names with markup, overrides and stray controls stay inside their own text', async () => {
    const person = await stack.person();
    // The isolate ends with U+2069, so that the override would apply to the text after an inline element.
    const name = `<img src=x onerror=alert(1)>\u2069${override}enohp`;
    await register(person, { device_name: name });
    const page = await openDevices(person);
    await page.getByText(name).first().waitFor();
    expect(await page.locator('main :is(img, script)').count()).toBe(0);
    await button(page, 'Remove', name).click();
    const toast = page.locator('.toast > span');
    await toast.getByText('is removed.').waitFor();
    expect(await page.evaluate(isInOrder)).toBe(true);
  });

  test('the palette and a shortcut lead to the devices', async () => {
    const person = await stack.person();
    const page = await openConsole(chromium, person, '/console');
    await page.getByRole('heading', { name: 'Home' }).waitFor();
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox').fill('devi');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Devices' }).waitFor();
    // On a loaded machine the second key can come after the time limit of a sequence.
    const goWith = (key: string, heading: string) =>
      eventually(async () => {
        await page.keyboard.press('g');
        await page.keyboard.press(key);
        expect(await page.getByRole('heading', { name: heading }).isVisible()).toBe(true);
      });
    await goWith('h', 'Home');
    await goWith('d', 'Devices');
  });
});
