import { expect, test } from '@jest/globals';
import { eventually } from '@tocsin/shared/testing/eventually.ts';
import { describeUnlessMissing } from '../../tools/test/describe-unless-missing.ts';
import { missingForChromium, useChromium } from '../support/chromium.ts';
import { openConsole } from '../support/open-console.ts';
import { createTopic } from '../support/stack.ts';
import { useStack } from '../support/use-stack.ts';

describeUnlessMissing('in Chromium', missingForChromium(), () => {
  const stack = useStack();
  const chromium = useChromium();

  test('a message shows where it leads, and managers of the topic who published it', async () => {
    const owner = await stack.person();
    const { name } = await createTopic(owner);
    await owner.post('/', {
      topic: name,
      message: 'The door is open',
      click: 'https://example.com/doors/4',
      actions: [
        { action: 'view', label: 'Floor plan', url: 'https://example.com/plan' },
        { action: 'http', label: 'Close it', url: 'https://example.com/close' },
      ],
    });
    const page = await openConsole(chromium, owner, `/console/topics/${name}`);
    const message = page.locator('.message');
    const link = message.getByRole('link', { name: 'Open example.com' });
    await link.waitFor();
    expect(await link.getAttribute('href')).toBe('https://example.com/doors/4');
    expect(await message.getByRole('link', { name: 'Floor plan' }).getAttribute('rel')).toContain('noopener');
    expect(await message.textContent()).toContain('Close it (on phones)');
    expect(await message.textContent()).toContain(`by ${owner.user.username}`);
  });

  test('the publish box sends a link, buttons, a lifetime and silence', async () => {
    const owner = await stack.person();
    const { name } = await createTopic(owner);
    const page = await openConsole(chromium, owner, `/console/topics/${name}`);
    await page.getByRole('textbox', { name: 'Message' }).fill('The door is open');
    await page.getByRole('button', { name: 'More' }).click();
    await page.getByLabel('Link that a tap opens').fill('https://example.com/doors/4');
    await page.getByLabel('Buttons').fill('view, Floor plan, https://example.com/plan');
    await page.getByLabel('Keep').selectOption('One hour');
    await page.getByLabel('Silent').check();
    await page.getByRole('button', { name: 'Publish' }).click();
    await page.locator('.message').getByRole('link', { name: 'Floor plan' }).waitFor();
    const [message] = (await owner.get(`/${name}/json`)).body.messages;
    expect(message).toMatchObject({ click: 'https://example.com/doors/4', silent: true });
    expect(Date.parse(message.expires_at) - Date.parse(message.timestamp)).toBe(3_600_000);
  });

  test('the publish box shows which field the server refused', async () => {
    const owner = await stack.person();
    const { name } = await createTopic(owner);
    chromium.expectRefusals();
    const page = await openConsole(chromium, owner, `/console/topics/${name}`);
    await page.getByRole('textbox', { name: 'Message' }).fill('x');
    await page.getByRole('button', { name: 'More' }).click();
    await page.getByLabel('Link that a tap opens').fill('javascript:alert(1)');
    await page.getByRole('button', { name: 'Publish' }).click();
    await eventually(async () => expect(await page.getByRole('alert').textContent()).toMatch(/^click: /));
  });
});
