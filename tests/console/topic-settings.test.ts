import { expect, test } from '@jest/globals';
import { eventually } from '@tocsin/shared/testing/eventually.ts';
import { describeUnlessMissing } from '../../tools/test/describe-unless-missing.ts';
import { missingForChromium, useChromium } from '../support/chromium.ts';
import { openConsole } from '../support/open-console.ts';
import { Client, createTopic, newTopicName } from '../support/stack.ts';
import { useStack, type Person } from '../support/use-stack.ts';

describeUnlessMissing('in Chromium', missingForChromium(), () => {
  const stack = useStack();
  const chromium = useChromium();

  async function openSettings(owner: Person, topic: string) {
    const page = await openConsole(chromium, owner, `/console/topics/${topic}`);
    await page.getByRole('link', { name: 'Settings' }).click();
    await page.getByRole('heading', { name: 'Topic settings' }).waitFor();
    return page;
  }

  test('the settings rename a topic, describe it, limit how long it keeps messages, and switch its archive off', async () => {
    const owner = await stack.person();
    const topic = await createTopic(owner);
    const page = await openSettings(owner, topic.name);
    const name = newTopicName();
    await page.getByLabel('Name', { exact: true }).first().fill(name);
    await page.getByLabel('Description').fill('Nightly backups');
    await page.getByLabel('Days to keep messages').fill('1');
    await page.getByLabel('Archive expired messages').uncheck();
    await page.getByRole('button', { name: 'Save' }).click();
    await page.waitForURL((url) => url.pathname === `/console/topics/${name}/settings`);
    const { body } = await owner.get(`/api/topics/${name}`);
    expect(body).toMatchObject({ id: topic.id, description: 'Nightly backups', retention_days: 1, archive: false });
  });

  test('a refused change shows the error of the server next to its field, which gets the focus', async () => {
    const owner = await stack.person();
    const { name } = await createTopic(owner, { description: '' });
    chromium.expectRefusals();
    const page = await openSettings(owner, name);
    await page.getByLabel('List the topic').check();
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Is required for a discoverable public topic.').waitFor();
    await eventually(async () => expect(await page.evaluate('document.activeElement.id')).toBe('description'));
  });

  test('a new token is shown once, with lines that publish, and a deleted one is refused', async () => {
    const owner = await stack.person({ tier: 'ESSENTIALS' });
    const { name } = await createTopic(owner, { access_level: 'private' });
    const page = await openSettings(owner, name);
    await page.getByText('Create a token …').click();
    await page.getByRole('region', { name: 'Tokens' }).getByLabel('Name', { exact: true }).fill('backup script');
    await page.getByRole('button', { name: 'Create token' }).click();
    const token = (await page.locator('.new-secret code').first().textContent())!;
    const lines = await page.locator('.new-secret code').allTextContents();
    const isCutOff = 'document.documentElement.scrollWidth > document.documentElement.clientWidth';
    expect(await page.evaluate(isCutOff)).toBe(false);
    expect(lines.slice(1).every((line) => line.includes(token) && line.includes(`/${name}`))).toBe(true);
    const publish = () =>
      new Client().call('POST', `/${name}`, { text: 'It works', headers: { 'X-Topic-Token': token } });
    expect((await publish()).status).toBe(200);
    await page.reload();
    await page.getByText('backup script').first().waitFor();
    expect(await page.locator('.new-secret').count()).toBe(0);
    await page.getByRole('button', { name: 'Delete : backup script' }).click();
    await page.getByText('The topic has no tokens').waitFor();
    await eventually(async () => expect((await publish()).status).toBe(401));
  });

  test('a topic is deleted after its name is entered', async () => {
    const owner = await stack.person();
    const { name } = await createTopic(owner);
    const page = await openSettings(owner, name);
    // Their request would be refused if it arrived after the deletion.
    await page.getByText('The topic has no tokens').waitFor();
    await page.getByText(`Delete ${name} …`).click();
    await page.getByRole('button', { name: 'Delete the topic' }).click();
    await page.getByLabel(`Enter ${name}`).fill('other');
    await page.getByRole('button', { name: 'Delete the topic' }).click();
    await page.getByText(`Enter ${name} to confirm.`).waitFor();
    await page.getByLabel(`Enter ${name}`).fill(name);
    await page.getByRole('button', { name: 'Delete the topic' }).click();
    await page.getByRole('heading', { name: 'Home' }).waitFor();
    expect((await owner.get(`/api/topics/${name}`)).status).toBe(404);
  });
});
