import { expect, test } from '@jest/globals';
import { eventually } from '@tocsin/shared/testing/eventually.ts';
import type { Page } from 'playwright-core';
import { describeUnlessMissing } from '../../tools/test/describe-unless-missing.ts';
import { missingForChromium, useChromium } from '../support/chromium.ts';
import { openConsole, typeLogin } from '../support/open-console.ts';
import { expectNoScrollbar, findInaccessible, looks } from '../support/page-quality.ts';
import { createTopic, made } from '../support/stack.ts';
import { useStack, type Person } from '../support/use-stack.ts';

const dayMs = 86_400_000;

describeUnlessMissing('in Chromium', missingForChromium(), () => {
  const stack = useStack();
  const chromium = useChromium();

  async function ownTopic() {
    const owner = await stack.person();
    const topic = await createTopic(owner);
    return { owner, topic, path: `/console/topics/${topic.name}` };
  }

  const schedule = (owner: Person, topic: { name: string }, given: object = {}) =>
    made(owner.post('/', { topic: topic.name, message: 'The lift is out of order', delay: '1h', ...given }));

  const scheduledIn = async (owner: Person, { name }: { name: string }) =>
    (await owner.get(`/api/messages/scheduled?topic=${name}`)).body;

  /** Writes a message and chooses how to name its time. */
  async function write(page: Page, kind: string): Promise<void> {
    await page.getByRole('textbox', { name: 'Message' }).fill('The lift is out of order');
    await page.getByRole('button', { name: 'More' }).click();
    await page.getByLabel('Deliver').selectOption(kind);
  }

  const send = (page: Page) => page.getByRole('button', { name: 'Schedule', exact: true }).click();

  const zones: readonly (readonly [kind: string, label: string, value: (now: number) => string])[] = [
    [
      'At a date and time',
      'Date and time in Asia/Tokyo',
      (now) => `${new Date(now + 2 * dayMs).toISOString().slice(0, 10)}T10:00`,
    ],
    ['At a time in words', 'Time in Asia/Tokyo', () => 'tomorrow, 10am'],
  ];

  test.each(zones)(
    'the publish box delivers "%s" in the zone of the browser, and says when',
    async (kind, label, value) => {
      const { owner, topic, path } = await ownTopic();
      const page = await openConsole(chromium, owner, path, { timezoneId: 'Asia/Tokyo' });
      await write(page, kind);
      await page.getByLabel(label).fill(value(Date.now()));
      await send(page);
      await page.getByText(/Will be delivered .*, on .* 10:00:00\./).waitFor();
      // 10:00 in Tokyo.
      expect(await scheduledIn(owner, topic)).toMatchObject([
        { state: 'scheduled', scheduled_for: expect.stringMatching(/T01:00:00/) },
      ]);
      expect(await page.locator('.message').count()).toBe(0);
    },
  );

  test('the publish box delivers after a duration, and the list shows the message and cancels it', async () => {
    const { owner, topic, path } = await ownTopic();
    const page = await openConsole(chromium, owner, path);
    await write(page, 'After a while');
    await page.getByLabel('Time from now').fill('2 hours');
    await page.keyboard.press('Enter');
    await page.getByText('Will be delivered in 2 hr').waitFor();
    await page.getByRole('link', { name: 'Scheduled messages' }).click();
    const row = page.locator('.scheduled-list li');
    await row.getByText('in 2 hr').waitFor();
    const cancel = row.getByRole('button', { name: 'Cancel : The lift is out of order' });
    await cancel.press('Enter');
    await row.getByText('Cancelled').waitFor();
    await page.getByRole('button', { name: 'Undo' }).click();
    await cancel.press('Enter');
    await row.getByText('The content is deleted').waitFor();
    expect(await scheduledIn(owner, topic)).toMatchObject([{ state: 'cancelled' }]);
  });

  test('a time that the server refuses is explained, and a missing one is never published', async () => {
    const { owner, topic, path } = await ownTopic();
    chromium.expectRefusals();
    const page = await openConsole(chromium, owner, path);
    await write(page, 'After a while');
    await page.getByRole('textbox', { name: 'Message' }).press('Control+Enter');
    await page.getByRole('alert').filter({ hasText: 'Enter the time of delivery.' }).waitFor();
    await page.getByLabel('Time from now').fill('31d');
    await send(page);
    await page.getByRole('alert').filter({ hasText: 'must be 10 seconds to 30 days ahead' }).waitFor();
    expect(await scheduledIn(owner, topic)).toEqual([]);
    expect((await owner.get(`/${topic.name}/json`)).body.messages).toEqual([]);
  });

  test('a message that was delivered meanwhile cannot be cancelled, and the list says so', async () => {
    const { owner, topic, path } = await ownTopic();
    await schedule(owner, topic, { delay: '10s' });
    const outdated = await scheduledIn(owner, topic);
    chromium.expectRefusals();
    const page = await chromium.open(`/console/login?next=${path}/scheduled`);
    const list = /\/api\/messages\/scheduled\?/;
    await page.route(list, (route) => route.fulfill({ json: outdated }));
    await typeLogin(page, owner);
    const row = page.locator('.scheduled-list li');
    await row.getByText('Scheduled').waitFor();
    await eventually(async () => expect(await scheduledIn(owner, topic)).toMatchObject([{ state: 'delivered' }]), {
      timeoutMs: 60_000,
    });
    await row.getByRole('button', { name: /^Cancel/ }).click();
    await page.locator('.toast.bad').filter({ hasText: 'Message was already delivered' }).waitFor();
    await row.getByText('Scheduled').waitFor();
    await page.unroute(list);
    await row.getByText('Delivered').waitFor();
  });

  test('a delivered message links to the topic, and a dropped one says why', async () => {
    const owner = await stack.person({ tier: 'TEAM' });
    const writer = await stack.person();
    const topic = await createTopic(owner);
    await schedule(owner, topic, { delay: '10s', title: 'Kept' });
    await schedule(writer, topic, { delay: '11s' });
    await made(owner.patch(`/api/topics/${topic.id}`, { access_level: 'private' }));
    const page = await openConsole(chromium, owner, `/console/topics/${topic.name}/scheduled`);
    const rows = page.locator('.scheduled-list li');
    await eventually(
      async () => {
        const states = (await scheduledIn(owner, topic)).map(({ state }: { state: string }) => state);
        expect(states).toEqual(['dropped', 'delivered']);
      },
      { timeoutMs: 60_000 },
    );
    const [{ reason }] = await scheduledIn(owner, topic);
    await rows.first().getByText(reason).waitFor();
    expect(reason).not.toBe('');
    await rows.last().getByRole('link', { name: 'Kept' }).click();
    await page.locator('.message').filter({ hasText: 'Kept' }).waitFor();
  });

  test('texts of scheduled messages cannot inject markup or change the text around them', async () => {
    const { owner, topic, path } = await ownTopic();
    const hostile = '<img src=x onerror=alert(1)>\u202Eevil';
    await schedule(owner, topic, { title: hostile, message: hostile });
    const page = await openConsole(chromium, owner, `${path}/scheduled`);
    await page.locator('.row-title bdi').filter({ hasText: hostile }).waitFor();
    expect(await page.locator('.scheduled-list img').count()).toBe(0);
    const isolated = (await page.evaluate(
      `[...document.querySelectorAll('.row-title bdi, .scheduled-text')].map((one) => getComputedStyle(one).unicodeBidi)`,
    )) as string[];
    expect(isolated).toEqual(['isolate', 'isolate']);
  });

  test.each(looks)('on %s the list and the publish box are accessible and not cut off', async (_, width, scheme) => {
    const { owner, topic, path } = await ownTopic();
    await schedule(owner, topic, { title: 't'.repeat(200), message: 'w'.repeat(300) });
    const { id } = await schedule(owner, topic);
    expect((await owner.delete(`/api/messages/scheduled/${id}`)).status).toBe(204);
    const page = await openConsole(chromium, owner, path, { viewport: { width, height: 740 }, colorScheme: scheme });
    await write(page, 'At a date and time');
    expect(await findInaccessible(page)).toEqual([]);
    await expectNoScrollbar(page, width);
    await page.getByRole('link', { name: 'Scheduled' }).click();
    await page.locator('.scheduled-list').waitFor();
    expect(await findInaccessible(page)).toEqual([]);
    await expectNoScrollbar(page, width);
  });
});
