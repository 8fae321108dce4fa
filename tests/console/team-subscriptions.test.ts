import { expect, test } from '@jest/globals';
import { describeUnlessMissing } from '../../tools/test/describe-unless-missing.ts';
import { missingForChromium, useChromium } from '../support/chromium.ts';
import { openConsole } from '../support/open-console.ts';
import { expectNoScrollbar, findInaccessible, looks } from '../support/page-quality.ts';
import { createTopic } from '../support/stack.ts';
import { useStack } from '../support/use-stack.ts';

describeUnlessMissing('in Chromium', missingForChromium(), () => {
  const stack = useStack();
  const chromium = useChromium();

  async function crew() {
    const [owner, member] = [await stack.person({ tier: 'TEAM' }), await stack.person()];
    const id = await stack.team(owner, [[member, 'member']]);
    const topic = await createTopic(owner, { team_id: id, access_level: 'private' });
    const own = async () => (await member.get('/api/subscriptions')).body.subscriptions;
    return { owner, member, id, topic, own };
  }

  test('a manager subscribes all members, sees it in the list and ends it', async () => {
    const { owner, id, topic, own } = await crew();
    const page = await openConsole(chromium, owner, `/console/teams/${id}`);
    const section = page.getByRole('region', { name: 'Team subscriptions' });
    await section.getByText('The team has not subscribed its members to a topic.').waitFor();
    await section.getByText('Subscribe members …').click();
    await section.getByLabel('Priority').selectOption('4');
    await section.getByLabel('Tags').fill('db, disk');
    await section.getByLabel('Mandatory').check();
    await section.getByRole('button', { name: 'Subscribe members' }).click();
    await section.getByText('all members · 2 subscribed · high and highest · tags db, disk').waitFor();
    expect(await own()).toMatchObject([
      {
        topic_id: topic.id,
        mandatory: true,
        mobile_notification_settings: { priority_threshold: 4, tags_filter: ['db', 'disk'] },
      },
    ]);
    await section.getByRole('button', { name: `End the team subscription to ${topic.name}` }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'End it' }).click();
    await section.getByText('The team has not subscribed its members to a topic.').waitFor();
    expect(await own()).toEqual([]);
  });

  test('a manager subscribes chosen members', async () => {
    const { owner, member, id, own } = await crew();
    const page = await openConsole(chromium, owner, `/console/teams/${id}`);
    const section = page.getByRole('region', { name: 'Team subscriptions' });
    await section.getByText('Subscribe members …').click();
    await section.getByLabel('Members', { exact: true }).selectOption('some');
    await section.getByRole('button', { name: 'Subscribe members' }).click();
    await section.getByText('Choose at least one member.').waitFor();
    await section.getByLabel(member.user.username).check();
    await section.getByRole('button', { name: 'Subscribe members' }).click();
    await section.getByText(`${member.user.username} · 1 subscribed · every message`).waitFor();
    expect(await own()).toMatchObject([{ mandatory: false }]);
    expect((await owner.get('/api/subscriptions')).body.total).toBe(0);
  });

  test('a member sees that the team set a subscription, and changes only quiet hours', async () => {
    const { owner, member, id, topic, own } = await crew();
    await owner.post(`/api/teams/${id}/subscriptions`, {
      topic_name: topic.name,
      members: 'all',
      mandatory: true,
      mobile_notification_settings: { priority_threshold: 3 },
    });
    const page = await openConsole(chromium, member, `/console/topics/${topic.name}`);
    expect(await page.getByRole('button', { name: 'Set by the team' }).isDisabled()).toBe(true);
    await page.getByRole('link', { name: 'Notifications' }).click();
    await page.getByText('This subscription is set by the team.').waitFor();
    for (const label of ['Notify my phones and tablets', 'Notify my browsers', 'Tags', 'At most per minute'])
      expect({ label, isDisabled: await page.getByLabel(label).isDisabled() }).toEqual({ label, isDisabled: true });
    expect(await page.locator('#priority_threshold option:disabled').allTextContents()).toEqual([
      'High and highest',
      'Only highest',
    ]);
    await page.getByLabel('Quiet hours', { exact: true }).check();
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Saved.').waitFor();
    expect(await own()).toMatchObject([
      { mobile_notification_settings: { priority_threshold: 3, quiet_hours: { start: '22:00' } } },
    ]);
  });

  test.each(looks)('on %s the form is accessible and not cut off', async (_where, width, scheme) => {
    const { owner, id } = await crew();
    const page = await openConsole(chromium, owner, `/console/teams/${id}`, {
      viewport: { width, height: 740 },
      colorScheme: scheme,
    });
    const section = page.getByRole('region', { name: 'Team subscriptions' });
    await section.getByText('Subscribe members …').click();
    await section.getByLabel('Members', { exact: true }).selectOption('some');
    expect(await findInaccessible(page)).toEqual([]);
    await expectNoScrollbar(page, width);
  });
});
