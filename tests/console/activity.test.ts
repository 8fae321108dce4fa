import { expect, test } from '@jest/globals';
import { eventually } from '@tocsin/shared/testing/eventually.ts';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { describeUnlessMissing } from '../../tools/test/describe-unless-missing.ts';
import { missingForChromium, useChromium } from '../support/chromium.ts';
import { createTopic } from '../support/stack.ts';
import { useStack, type Person } from '../support/use-stack.ts';

describeUnlessMissing('in Chromium', missingForChromium(), () => {
  const stack = useStack();
  const chromium = useChromium();

  /** The counts of the legend by name. */
  const legend = async (page: Page): Promise<Record<string, number>> =>
    Object.fromEntries(
      (await page.locator('.bar-chart-legend li').allTextContents()).map((text) => {
        const [name, count] = text.trim().split(/\s+/);
        return [name!, Number(count)];
      }),
    );

  /** How many pixels of the drawing have the colour of the legend's entry. */
  const pixelsOf = (page: Page, tone: string): Promise<number> =>
    page.evaluate(`(() => {
      const canvas = document.querySelector('.bar-chart canvas');
      if (canvas === null) return 0;
      const colour = getComputedStyle(document.querySelector('.bar-chart .swatch.${tone}')).backgroundColor;
      const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
      let count = 0;
      for (let at = 0; at < data.length; at += 4)
        if ('rgb(' + [...data.slice(at, at + 3)].join(', ') + ')' === colour && data[at + 3] === 255) count++;
      return count;
    })()`);

  const isDrawn = (page: Page, tone: string) =>
    eventually(async () => expect(await pixelsOf(page, tone)).toBeGreaterThan(20));

  /** A topic with a message of the lowest, two of the default and one of the highest priority. */
  async function withMessages(): Promise<{ owner: Person; name: string }> {
    const owner = await stack.person();
    const { name } = await createTopic(owner);
    for (const priority of [1, 3, 3, 5]) await owner.post('/', { topic: name, message: 'It works', priority });
    return { owner, name };
  }

  async function openActivity(
    { owner, name }: { owner: Person; name: string },
    options: BrowserContextOptions = { colorScheme: 'light' },
  ) {
    const path = `/console/topics/${name}`;
    const page = await chromium.open(`/console/login?next=${encodeURIComponent(path)}`, options);
    await page.getByLabel('Email').fill(owner.email);
    await page.getByLabel('Password').fill(owner.password);
    await page.keyboard.press('Enter');
    await page.getByRole('link', { name: 'Activity' }).click();
    await page.getByRole('heading', { name: 'Activity', exact: true }).waitFor();
    return page;
  }

  test.each<[string, BrowserContextOptions]>([
    ['light colours', { colorScheme: 'light' }],
    ['dark colours', { colorScheme: 'dark' }],
    ['dark colours and reduced motion', { colorScheme: 'dark', reducedMotion: 'reduce' }],
  ])('draws the messages by priority on a system with %s, and in a new theme', async (_what, options) => {
    const page = await openActivity(await withMessages(), options);
    await page.getByText('4 messages in the last 24 hours.').waitFor();
    expect(await legend(page)).toEqual({ Lowest: 1, Low: 0, Default: 2, High: 0, Highest: 1 });
    for (const tone of ['p1', 'p3', 'p5']) await isDrawn(page, tone);
    expect(await pixelsOf(page, 'p4')).toBe(0);
    // The sidebar's button changes the theme of an open page: "light" and "dark" follow "system".
    for (const theme of ['light', 'dark']) {
      await page.getByRole('button', { name: 'Theme' }).click();
      await page.getByRole('button', { name: `Theme: ${theme}` }).waitFor();
      await isDrawn(page, 'p5');
    }
  });

  test('each range shows its buckets in the table, and the URL keeps it', async () => {
    const page = await openActivity(await withMessages());
    for (const [range, unit] of [
      ['7 days', 'Hour from'],
      ['30 days', 'Day (UTC)'],
      ['90 days', 'Day (UTC)'],
    ] as const) {
      await page.getByRole('link', { name: range }).click();
      await page.getByText(`4 messages in the last ${range}.`).waitFor();
      await page.getByText('Show as a table').focus();
      await page.keyboard.press('Enter');
      expect(await page.locator('thead').textContent()).toBe(`${unit}HighestHighDefaultLowLowest`);
    }
    await page.reload();
    await page.getByText('4 messages in the last 90 days.').waitFor();
    await page.getByText('Show as a table').click();
    const counts = await page.locator('tbody td').allTextContents();
    expect(counts.map(Number).reduce((sum, count) => sum + count, 0)).toBe(4);
  });

  test('a range shows no counts of another one while it loads', async () => {
    const page = await openActivity(await withMessages());
    await page.getByText('4 messages in the last 24 hours.').waitFor();
    await page.evaluate(`{
      window.texts = [];
      const record = () => window.texts.push(document.body.textContent);
      new MutationObserver(record).observe(document.body, { subtree: true, childList: true, characterData: true });
    }`);
    const held = Promise.withResolvers<void>();
    await page.route('**/api/messages/activity?**', (route) => held.promise.then(() => route.continue()));
    await page.getByRole('link', { name: '7 days' }).click();
    await page.getByLabel('Loading').waitFor();
    expect(await page.evaluate(`window.texts.filter((text) => text.includes('in the last 7 days'))`)).toEqual([]);
    held.resolve();
    await page.getByText('4 messages in the last 7 days.').waitFor();
  });

  test('the legend shows the counts at the pointer', async () => {
    const page = await openActivity(await withMessages());
    await isDrawn(page, 'p5');
    const box = (await page.locator('.u-over').boundingBox())!;
    // The first hour of the range.
    await page.mouse.move(box.x + 2, box.y + 20);
    await eventually(async () =>
      expect(await legend(page)).toEqual({ Lowest: 0, Low: 0, Default: 0, High: 0, Highest: 0 }),
    );
    await page.mouse.move(box.x + 2, box.y - 60);
    await eventually(async () =>
      expect(await legend(page)).toEqual({ Lowest: 1, Low: 0, Default: 2, High: 0, Highest: 1 }),
    );
  });

  test('a topic without messages says so', async () => {
    const owner = await stack.person();
    const page = await openActivity({ owner, name: (await createTopic(owner)).name });
    await page.getByText('No messages in the last 24 hours.').waitFor();
    expect(await page.locator('.bar-chart').count()).toBe(0);
  });

  test('the counts are readable if the code of the chart cannot be loaded', async () => {
    chromium.expectRefusals();
    const own = await withMessages();
    const page = await openActivity({ owner: own.owner, name: (await createTopic(own.owner)).name });
    await page.route(/draw-bars/, (route) => route.abort());
    await page.goto(page.url().replace(/topics\/[^/]+/, `topics/${own.name}`));
    await page.getByText('The chart could not be loaded. The table has the same counts.').waitFor();
    expect(await legend(page)).toMatchObject({ Default: 2 });
  });

  test('the preview of notification settings draws the pushed messages', async () => {
    const { owner, name } = await withMessages();
    await owner.post('/api/subscriptions', { topic_name: name });
    const page = await openActivity({ owner, name });
    await page.goto(page.url().replace('/activity', '/notifications'));
    await page.getByLabel('Priority').selectOption('3');
    await page.getByText('3 of 4 messages pushed').waitFor();
    for (const tone of ['pushed', 'rest']) await isDrawn(page, tone);
    expect(await page.locator('.bar-chart-legend').textContent()).toMatch(/Pushed 3.*Not pushed 1/);
  });
});
