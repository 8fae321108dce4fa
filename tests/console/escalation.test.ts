import { expect, test } from '@jest/globals';
import { eventually } from '@tocsin/shared/testing/eventually.ts';
import type { Page } from 'playwright-core';
import { describeUnlessMissing } from '../../tools/test/describe-unless-missing.ts';
import { missingForChromium, useChromium } from '../support/chromium.ts';
import { openConsole } from '../support/open-console.ts';
import { expectNoScrollbar, findInaccessible, looks } from '../support/page-quality.ts';
import { createTopic, made } from '../support/stack.ts';
import { useStack, type Person } from '../support/use-stack.ts';

describeUnlessMissing('in Chromium', missingForChromium(), () => {
  const stack = useStack();
  const chromium = useChromium();

  const policyPath = ({ id }: { id: string }) => `/api/topics/${id}/escalation`;
  const plain = {
    min_priority: 5,
    repeat_every: '2m',
    repeat_max: 5,
    steps: [] as object[],
    auto_ack_on_resolve: true,
  };

  /** A topic of a team with a member, and a second topic of the owner. */
  async function teamTopic() {
    const [owner, member] = [await stack.person({ tier: 'TEAM' }), await stack.person()];
    const teamId = await stack.team(owner, [[member, 'member']]);
    const topic = await createTopic(owner, { team_id: teamId, access_level: 'private' });
    const managers = await createTopic(owner);
    return { owner, member, teamId, topic, managers };
  }

  async function openPolicy(owner: Person, topic: { name: string }, options = {}) {
    const page = await openConsole(chromium, owner, `/console/topics/${topic.name}/settings`, options);
    return { page, section: page.getByRole('region', { name: 'Escalation' }) };
  }

  const step = (page: Page, number: number) => page.getByRole('group', { name: `Step ${number}` });

  test('a policy is set with steps to a role, a person and a topic, and says in plain words what will happen', async () => {
    const { owner, member, topic, managers } = await teamTopic();
    const { page, section } = await openPolicy(owner, topic);
    await section.getByText('No message of this topic needs an acknowledgement.').waitFor();
    await section.getByText('Set a policy …').click();
    await section.getByLabel('Needs acknowledgement').selectOption('High and highest');
    await section.getByLabel('Push again every').fill('90s');
    await section.getByLabel('At most').fill('3');
    const add = section.getByRole('button', { name: 'Add a step' });
    await add.click();
    await step(page, 1).getByLabel('After').fill('5m');
    await step(page, 1).getByLabel('By role in the team').selectOption('Owner and admins');
    await step(page, 1).getByLabel(member.user.username).check();
    await add.click();
    await step(page, 2).getByLabel('After').fill('1h');
    await step(page, 2).getByLabel('Then').selectOption('Publish to a topic');
    await step(page, 2).getByLabel('Topic').fill(managers.name);
    const preview = section.getByRole('group', { name: 'What will happen' });
    await preview.getByText('Messages of high and highest priority need an acknowledgement.').waitFor();
    await preview.getByText('Every 90 seconds').waitFor();
    await preview.getByText('Pushed again to everyone who got it, up to 3 times.').waitFor();
    await section.getByRole('button', { name: 'Save the policy' }).click();
    await page.getByText('The escalation policy is saved.').waitFor();
    expect((await owner.get(policyPath(topic))).body).toEqual({
      ...plain,
      min_priority: 4,
      repeat_every: '90s',
      repeat_max: 3,
      steps: [
        { after: '5m', to: { users: [member.id], team_role: 'admin' } },
        { after: '1h', to: { topic: managers.name } },
      ],
    });
    const summary = section.locator('.card .policy');
    await summary.getByText(`Pushed to the owner and the admins of the team, ${member.user.username}.`).waitFor();
    expect(await summary.getByText(`Published to ${managers.name}.`).count()).toBe(1);
  });

  test('a policy is changed and removed, and steps keep their values when another one goes', async () => {
    const { owner, member, topic, managers } = await teamTopic();
    const steps = [
      { after: '5m', to: { users: [owner.id, member.id], team_role: null } },
      { after: '15m', to: { topic: managers.name } },
    ];
    await made(owner.put(policyPath(topic), { ...plain, steps }));
    const { page, section } = await openPolicy(owner, topic);
    await section.getByText('Change the policy …').click();
    await step(page, 1).getByRole('button', { name: 'Remove step 1' }).press('Enter');
    await step(page, 2).waitFor({ state: 'detached' });
    await section.getByLabel('A resolved alert acknowledges its message').uncheck();
    await section.getByRole('button', { name: 'Save the policy' }).click();
    await page.getByText('The escalation policy is saved.').waitFor();
    expect((await owner.get(policyPath(topic))).body).toEqual({
      ...plain,
      steps: [steps[1]],
      auto_ack_on_resolve: false,
    });
    await section.getByRole('button', { name: 'Remove the policy' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Remove it' }).click();
    await section.getByText('No message of this topic needs an acknowledgement.').waitFor();
    expect((await owner.get(policyPath(topic))).status).toBe(404);
  });

  test('every refused field shows the error of the server, and the first one gets the focus', async () => {
    const { owner, topic } = await teamTopic();
    chromium.expectRefusals();
    const { page, section } = await openPolicy(owner, topic);
    await section.getByText('Set a policy …').click();
    await section.getByLabel('Push again every').fill('2h');
    await section.getByLabel('At most').fill('21');
    for (const number of [1, 2]) {
      await section.getByRole('button', { name: 'Add a step' }).click();
      await step(page, number).getByLabel('After').fill('5m');
    }
    await step(page, 2).getByLabel('By role').selectOption('All members');
    await section.getByRole('button', { name: 'Save the policy' }).click();
    const errorOf = async (label: string, within = section) => {
      const id = await within.getByLabel(label).getAttribute('aria-describedby');
      return page.locator(`[id="${id?.split(' ')[0]}"]`).textContent();
    };
    await eventually(async () =>
      expect(await errorOf('Push again every')).toBe('Must be a duration from 30s to 1h, such as 5m.'),
    );
    expect(await errorOf('At most')).toBe('Must be 0 to 20.');
    expect(await errorOf('Then', step(page, 1))).toBe('Choose at least one person or role.');
    expect(await errorOf('After', step(page, 2))).toBe('After must rise from step to step.');
    await eventually(async () => expect(await page.evaluate('document.activeElement.id')).toBe('repeat_every'));
    expect(await section.locator('.note.bad').count()).toBe(0);
  });

  test('a topic that leads back, or that the account does not manage, is refused at its field', async () => {
    const { owner, topic, managers } = await teamTopic();
    await made(owner.put(policyPath(managers), { ...plain, steps: [{ after: '5m', to: { topic: topic.name } }] }));
    chromium.expectRefusals();
    const { page, section } = await openPolicy(owner, topic);
    await section.getByText('Set a policy …').click();
    await section.getByRole('button', { name: 'Add a step' }).click();
    await step(page, 1).getByLabel('After').fill('5m');
    await step(page, 1).getByLabel('Then').selectOption('Publish to a topic');
    await step(page, 1).getByLabel('Topic').fill('nowhere');
    await section.getByRole('button', { name: 'Save the policy' }).click();
    await step(page, 1).getByText('Must be a topic that you manage.').waitFor();
    await step(page, 1).getByLabel('Topic').fill(managers.name);
    await section.getByRole('button', { name: 'Save the policy' }).click();
    await step(page, 1).getByText('Must not lead back to the topic.').waitFor();
  });

  test('a person who lost access is named at the field', async () => {
    const { owner, member, teamId, topic } = await teamTopic();
    chromium.expectRefusals();
    const { page, section } = await openPolicy(owner, topic);
    await section.getByText('Set a policy …').click();
    await section.getByRole('button', { name: 'Add a step' }).click();
    await step(page, 1).getByLabel('After').fill('5m');
    await step(page, 1).getByLabel(member.user.username).check();
    expect((await member.delete(`/api/teams/${teamId}/members/${member.id}`)).status).toBe(204);
    await section.getByRole('button', { name: 'Save the policy' }).click();
    await step(page, 1).getByText(`${member.user.username}\u2069 cannot read the topic.`).waitFor();
  });

  test.each(looks)('on %s a policy with all steps is accessible and not cut off', async (_, width, scheme) => {
    const { owner, member, topic } = await teamTopic();
    const steps = [1, 2, 3, 4, 5].map((hours) => ({ after: `${hours}h`, to: { users: [owner.id, member.id] } }));
    await made(owner.put(policyPath(topic), { ...plain, steps }));
    const { page, section } = await openPolicy(owner, topic, {
      viewport: { width, height: 740 },
      colorScheme: scheme,
    });
    await section.getByText('Change the policy …').click();
    expect(await section.getByRole('button', { name: 'Add a step' }).count()).toBe(0);
    expect(await findInaccessible(page)).toEqual([]);
    await expectNoScrollbar(page, width);
  });
});
