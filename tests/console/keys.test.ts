import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from '@jest/globals';
import { eventually } from '@tocsin/shared/testing/eventually.ts';
import type { Page } from 'playwright-core';
import { describeUnlessMissing } from '../../tools/test/describe-unless-missing.ts';
import { missingForChromium, useChromium } from '../support/chromium.ts';
import { openConsole } from '../support/open-console.ts';
import { Client, createTopic } from '../support/stack.ts';
import { useStack, type Person } from '../support/use-stack.ts';

const run = promisify(execFile);

/** Programs that run a line of each language. */
const programs: Readonly<Record<string, readonly string[]>> = {
  curl: ['sh', '-c'],
  JavaScript: [process.execPath, '--input-type=module', '-e'],
  Python: ['python3', '-c'],
};

describeUnlessMissing('in Chromium', missingForChromium(), () => {
  const stack = useStack();
  const chromium = useChromium();

  async function openKeys(person: Person): Promise<Page> {
    const page = await openConsole(chromium, person, '/console/keys');
    await page.getByRole('heading', { name: 'API keys' }).waitFor();
    return page;
  }

  const button = (page: Page, action: string, key: string) => page.getByRole('button', { name: `${action} : ${key}` });

  async function create(page: Page, name: string, fill: () => Promise<unknown> = () => Promise.resolve()) {
    await page.getByText('Create a key …').click();
    await page.getByLabel('Name', { exact: true }).fill(name);
    await fill();
    await page.getByRole('button', { name: 'Create key' }).click();
  }

  const secretOn = async (page: Page): Promise<string> =>
    (await page.getByRole('region', { name: 'The new key' }).locator('code').first().textContent())!;

  const status = async (key: string, path: string): Promise<number> =>
    (await new Client().call('GET', path, { headers: { 'X-API-Key': key } })).status;

  test('a new key is shown once and may only publish by default', async () => {
    const person = await stack.person();
    const page = await openKeys(person);
    await page.getByText('You have no API keys.').waitFor();
    await create(page, 'backup script');
    const key = await secretOn(page);
    expect((await person.get('/api/keys')).body).toMatchObject([
      { name: 'backup script', scopes: ['publish'], expires_at: null },
    ]);
    expect(await status(key, '/api/users/me')).toBe(403);
    await page.reload();
    await button(page, 'Revoke', 'backup script').waitFor();
    expect(await page.getByText(key).count()).toBe(0);
  });

  test.each(Object.entries(programs))(
    'the line for %s publishes to a topic of the account',
    async (language, program) => {
      const person = await stack.person();
      const { name } = await createTopic(person);
      const page = await openKeys(person);
      await create(page, 'script');
      const line = page.getByRole('button', { name: `Copy the line for ${language}` }).locator('..');
      const [command, ...args] = [...program, (await line.locator('code').textContent())!];
      await run(command!, args);
      expect((await person.get(`/api/topics/${name}/messages`)).body).toMatchObject({
        messages: [{ message: 'It works' }],
      });
    },
  );

  test('the line of a key that may only read prints a response', async () => {
    const person = await stack.person();
    const page = await openKeys(person);
    await create(page, 'reader', async () => {
      await page.getByLabel('May').selectOption('chosen');
      await page.getByLabel('(account:read)').check();
    });
    await page.getByRole('heading', { name: 'curl' }).waitFor();
    const line = await page.locator('.new-secret code').nth(1).textContent();
    const { stdout } = await run('sh', ['-c', line!]);
    expect(JSON.parse(stdout)).toMatchObject({ email: person.email });
  });

  test('the copy button copies the secret', async () => {
    const person = await stack.person();
    const page = await openKeys(person);
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await create(page, 'script');
    await page.getByRole('button', { name: 'Copy the key' }).click();
    await eventually(async () =>
      expect(await page.evaluate('navigator.clipboard.readText()')).toBe(await secretOn(page)),
    );
  });

  test('a key without a scope or with a past expiry is refused with the error of the server', async () => {
    const person = await stack.person();
    chromium.expectRefusals();
    const page = await openKeys(person);
    await create(page, 'script', () => page.getByLabel('May').selectOption('chosen'));
    await page.getByText('scopes: must name at least one scope').waitFor();
    await page.getByLabel('May').selectOption('publish');
    await page.getByLabel('Expires').selectOption('date');
    await page.getByLabel('Last day').fill('2020-01-31');
    await page.getByRole('button', { name: 'Create key' }).click();
    await page.getByText('expires_at: must be in the future').waitFor();
    expect((await person.get('/api/keys')).body).toEqual([]);
  });

  test('a key can expire after 30 days, and the list shows when', async () => {
    const person = await stack.person();
    const page = await openKeys(person);
    await create(page, 'script', () => page.getByLabel('Expires').selectOption('30'));
    await page.getByText(/never used · expires \d/).waitFor();
    const [{ expires_at }] = (await person.get('/api/keys')).body;
    const days = (Date.parse(expires_at) - Date.now()) / 86_400_000;
    expect(Math.round(days)).toBe(30);
  });

  test('the list shows when a key was last used', async () => {
    const person = await stack.person();
    const { body } = await person.post('/api/keys', { name: 'script', scopes: ['account:read'] });
    expect(await status(body.key, '/api/users/me')).toBe(200);
    const page = await openKeys(person);
    await page.getByText('used just now, 1 request · does not expire').waitFor();
    await page.getByText(`${body.key_prefix}… · account:read`).waitFor();
  });

  test('the keyboard alone revokes a key after a question, and enables it again', async () => {
    const person = await stack.person();
    const { body } = await person.post('/api/keys', { name: 'script', scopes: ['account:read'] });
    const page = await openKeys(person);
    await button(page, 'Revoke', 'script').focus();
    await page.keyboard.press('Enter');
    const dialog = page.getByRole('dialog', { name: 'Revoke the key' });
    await dialog.waitFor();
    await page.keyboard.press('Escape');
    // A closed dialog has no role, but stays on the page until its event arrives.
    await page.locator('dialog').waitFor({ state: 'detached' });
    expect(await status(body.key, '/api/users/me')).toBe(200);
    await page.keyboard.press('Enter');
    await dialog.waitFor();
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await button(page, 'Enable', 'script').waitFor();
    await eventually(async () => expect(await status(body.key, '/api/users/me')).toBe(401));
    await page.keyboard.press('Enter');
    await button(page, 'Revoke', 'script').waitFor();
    await eventually(async () => expect(await status(body.key, '/api/users/me')).toBe(200));
  });

  test('a revoked key is deleted unless the user undoes that', async () => {
    const person = await stack.person();
    for (const name of ['first', 'second']) {
      const { body } = await person.post('/api/keys', { name });
      await person.post(`/api/keys/${body.id}/revoke`);
    }
    const page = await openKeys(person);
    await button(page, 'Delete', 'first').click();
    await page.getByRole('button', { name: 'Undo' }).click();
    await button(page, 'Delete', 'first').waitFor();
    await button(page, 'Delete', 'second').click();
    await eventually(async () => expect((await person.get('/api/keys')).body).toMatchObject([{ name: 'first' }]));
  });

  test('revoking a key that was deleted elsewhere shows the error of the server', async () => {
    const person = await stack.person();
    const { body } = await person.post('/api/keys', { name: 'script' });
    chromium.expectRefusals();
    const page = await openKeys(person);
    await button(page, 'Revoke', 'script').click();
    await person.delete(`/api/keys/${body.id}`);
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click();
    await page.getByRole('dialog').getByText('API key not found').waitFor();
  });

  test('names with markup and overrides are text, in the list, the dialog and the card', async () => {
    const person = await stack.person();
    const name = '<img src=x onerror=alert(1)>\u202Etpircs';
    const page = await openKeys(person);
    await create(page, name);
    await page.getByRole('region', { name: 'The new key' }).getByText(name).waitFor();
    await button(page, 'Revoke', name).click();
    await page.getByRole('dialog').getByText(name).waitFor();
    expect(await page.locator('main :is(img, script)').count()).toBe(0);
    const isolated = await page.evaluate(
      `[...document.querySelectorAll('.row-title > :first-child, .new-secret h3, dialog bdi')]
        .map((one) => getComputedStyle(one).unicodeBidi)`,
    );
    expect(isolated).toEqual(['isolate', 'isolate', 'isolate']);
  });
});
