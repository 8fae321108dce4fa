import { expect, test } from '@jest/globals';
import { eventually } from '@tocsin/shared/testing/eventually.ts';
import { describeUnlessMissing } from '../../tools/test/describe-unless-missing.ts';
import { missingForChromium, useChromium } from '../support/chromium.ts';
import { openConsole } from '../support/open-console.ts';
import { createTopic } from '../support/stack.ts';
import { useStack, type Person } from '../support/use-stack.ts';

describeUnlessMissing('in Chromium', missingForChromium(), () => {
  const stack = useStack();
  const chromium = useChromium();

  /** Opens the notifications of a subscribed topic with five messages of the priorities 1 to 5. */
  async function openNotifications(owner: Person) {
    const { name } = await createTopic(owner);
    await owner.post('/api/subscriptions', { topic_name: name });
    for (const priority of [1, 2, 3, 4, 5])
      await owner.post('/', { topic: name, message: 'It works', priority, tags: [`p${priority}`] });
    const page = await openConsole(chromium, owner, `/console/topics/${name}`);
    await page.getByRole('link', { name: 'Notifications' }).click();
    await page.getByRole('heading', { name: 'Notifications', exact: true }).waitFor();
    return { page, name };
  }

  test('the preview follows the form, and does not change the subscription', async () => {
    const owner = await stack.person();
    const { page } = await openNotifications(owner);
    await page.getByText('5 of 5 messages pushed.').waitFor();
    await page.getByLabel('Priority').selectOption('4');
    await page.getByText('2 of 5 messages pushed: 3 filtered out.').waitFor();
    await page.getByLabel('Tags').fill('p5, p1');
    await page.getByText('1 of 5 messages pushed: 4 filtered out.').waitFor();
    const { body } = await owner.get('/api/subscriptions');
    expect(body).toMatchObject({
      subscriptions: [{ mobile_notification_settings: { priority_threshold: 1, tags_filter: [] } }],
    });
  });

  test('saves a digest at a time of day in a zone, and turns it off', async () => {
    const owner = await stack.person();
    const { page } = await openNotifications(owner);
    const stored = async () =>
      (await owner.get('/api/subscriptions')).body.subscriptions[0].mobile_notification_settings;
    await page.getByLabel('Lowest to default').selectOption('Collected, once a day');
    await page.getByLabel('Every day at').fill('09:30');
    await page.getByLabel('In the time zone').fill('Europe/Berlin');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Saved.').waitFor();
    expect(await stored()).toMatchObject({ digest: '1d', digest_at: '09:30', digest_timezone: 'Europe/Berlin' });
    await page.reload();
    await eventually(async () => expect(await page.getByLabel('Every day at').inputValue()).toBe('09:30'));
    await page.getByLabel('Lowest to default').selectOption('Immediately');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Saved.').waitFor();
    expect(await stored()).toMatchObject({ digest: 'off' });
  });

  test('saves the filter, the limit and quiet hours, which the page shows again', async () => {
    const owner = await stack.person();
    const { page } = await openNotifications(owner);
    await page.getByLabel('Priority').selectOption('3');
    await page.getByLabel('At most per minute').fill('2');
    await page.getByLabel('Quiet hours', { exact: true }).check();
    await page.getByLabel('From').fill('23:00');
    await page.getByLabel('Time zone').fill('Europe/Berlin');
    await page.getByRole('img', { name: 'Quiet from 23:00 to 07:00' }).waitFor();
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Saved.').waitFor();
    const { body } = await owner.get('/api/subscriptions');
    expect(body).toMatchObject({
      subscriptions: [
        {
          mobile_notification_settings: {
            priority_threshold: 3,
            max_per_minute: 2,
            quiet_hours: { start: '23:00', end: '07:00', timezone: 'Europe/Berlin', allow_priority: 5 },
          },
        },
      ],
    });
    await page.reload();
    await page.getByRole('img', { name: 'Quiet from 23:00 to 07:00' }).waitFor();
    expect(await page.getByLabel('At most per minute').inputValue()).toBe('2');
  });

  test('saves the badge and critical pushes, which the page shows again', async () => {
    const owner = await stack.person();
    const { page } = await openNotifications(owner);
    const [badge, critical] = [page.getByLabel('Show the number of unread'), page.getByLabel('Let highest sound')];
    expect([await badge.isChecked(), await critical.isChecked()]).toEqual([true, false]);
    await badge.uncheck();
    await critical.check();
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Saved.').waitFor();
    const { body } = await owner.get('/api/subscriptions');
    expect(body).toMatchObject({
      subscriptions: [{ mobile_notification_settings: { allow_critical: true, badge: 'none' } }],
    });
    await page.reload();
    await critical.waitFor();
    expect([await badge.isChecked(), await critical.isChecked()]).toEqual([false, true]);
  });
});
