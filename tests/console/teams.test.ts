import { randomBytes } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { eventually } from '@tocsin/shared/testing/eventually.ts';
import type { Locator, Page } from 'playwright-core';
import { describeUnlessMissing } from '../../tools/test/describe-unless-missing.ts';
import { missingForChromium, useChromium } from '../support/chromium.ts';
import { mailedLink, mailsTo } from '../support/mailbox.ts';
import { click, heading, openConsole, see } from '../support/open-console.ts';
import { newRegistration } from '../support/registration.ts';
import { createTopic, newTopicName, testStack } from '../support/stack.ts';
import { useStack, type Person } from '../support/use-stack.ts';

describeUnlessMissing('in Chromium', missingForChromium(), () => {
  const stack = useStack();
  const chromium = useChromium();

  const newName = () => `team-${randomBytes(6).toString('hex')}`;
  const section = (page: Page, name: string) => page.getByRole('region', { name });
  const inDialog = (page: Page, name: string) => page.getByRole('dialog').getByRole('button', { name }).click();
  const count = (page: Page, name: string) => page.getByRole('button', { name }).count();

  async function crew() {
    const [owner, admin, member] = [await stack.person({ tier: 'TEAM' }), await stack.person(), await stack.person()];
    const id = await stack.team(owner, [
      [admin, 'admin'],
      [member, 'member'],
    ]);
    return { owner, admin, member, id };
  }

  /** Opens the page of the team and waits for its topics, the last part to load. */
  async function openTeam(person: Person, id: string): Promise<Page> {
    const page = await openConsole(chromium, person, `/console/teams/${id}`);
    await section(page, 'Topics').locator('.topic-list, p').first().waitFor();
    return page;
  }

  const rolesOf = async (person: Person, id: string) =>
    Object.fromEntries(
      ((await person.get(`/api/teams/${id}`)).body.members as { user_id: string; role: string }[]).map((one) => [
        one.user_id,
        one.role,
      ]),
    );

  test('creates a team, and shows a refused name next to its field', async () => {
    const owner = await stack.person({ tier: 'TEAM' });
    chromium.expectRefusals();
    const page = await openConsole(chromium, owner, '/console/teams');
    await see(page, 'You are in no team.');
    await page.getByText('Create a team …').click();
    await page.getByLabel('Display name').fill('Über 🚒');
    await page.getByLabel('Name', { exact: true }).fill('Not Allowed');
    await click(page, 'Create team');
    await see(page, 'Must be 2 to 40 of the characters a-z, 0-9 and -.');
    await eventually(async () => expect(await page.evaluate('document.activeElement.id')).toBe('name'));
    const name = newName();
    await page.getByLabel('Name', { exact: true }).fill(name);
    await click(page, 'Create team');
    await heading(page, 'Über 🚒');
    expect((await owner.get('/api/teams')).body).toMatchObject([{ name, display_name: 'Über 🚒', my_role: 'owner' }]);
    await eventually(async () => expect(await page.title()).toBe('\u2068Über 🚒\u2069 · Tocsin'));
  });

  test('an account below the TEAM tier sees why it cannot create a team', async () => {
    const page = await openConsole(chromium, await stack.person(), '/console/teams');
    await see(page, 'Creating a team requires the TEAM tier, and your account has the tier FREE.');
    expect(await page.getByText('Create a team …').count()).toBe(0);
  });

  test('an invite from the page is accepted in another browser, which opens the team', async () => {
    const { owner, id } = await crew();
    const invited = await stack.person();
    const page = await openTeam(owner, id);
    await page.getByText('Invite someone …').click();
    await page.getByLabel('Email').fill(invited.email);
    await page.getByLabel('Role').selectOption('admin');
    await click(page, 'Send invite');
    await see(page, 'is invited. Ask the operator of this server for the link.');
    const link = await mailedLink(invited.email, 'team-invite');
    const other = await openConsole(chromium, invited, '/console');
    await other.goto(testStack().urls[0]! + link.pathname + link.hash);
    await click(other, 'Accept invite');
    await see(other, 'You are now a member of A team.');
    await other.getByRole('link', { name: 'Open the team' }).click();
    await see(other, 'You are an admin');
    await page.reload();
    await see(page, 'Members (4)');
    await see(page, 'No invites are pending.');
    expect((await rolesOf(owner, id))[invited.id]).toBe('admin');
  });

  test('an invite for a member is refused next to the email field', async () => {
    const { admin, member, id } = await crew();
    chromium.expectRefusals();
    const page = await openTeam(admin, id);
    await page.getByText('Invite someone …').click();
    await page.getByLabel('Email').fill(member.email);
    await click(page, 'Send invite');
    await page
      .locator('.field', { has: page.getByLabel('Email') })
      .getByText('Already a member.')
      .waitFor();
  });

  test('a pending invite is resent with a new link, and cancelled unless the user undoes it', async () => {
    const { owner, id } = await crew();
    const { email } = newRegistration();
    await owner.post(`/api/teams/${id}/invites`, { email, role: 'member' });
    await mailedLink(email, 'team-invite');
    const page = await openTeam(owner, id);
    await click(page, `Resend the invite for ${email}`);
    await eventually(async () => expect((await mailsTo(email, 'team-invite')).length).toBe(2));
    await click(page, `Cancel the invite for ${email}`);
    await see(page, 'No invites are pending.');
    await click(page, 'Undo');
    await click(page, `Cancel the invite for ${email}`);
    await see(page, 'No invites are pending.');
    await eventually(async () => expect((await owner.get(`/api/teams/${id}/invites`)).body).toEqual([]));
  });

  test('an address whose invite was just cancelled can be invited again', async () => {
    const { owner, id } = await crew();
    const { email } = newRegistration();
    const { body } = await owner.post(`/api/teams/${id}/invites`, { email, role: 'member' });
    const page = await openTeam(owner, id);
    await click(page, `Cancel the invite for ${email}`);
    await page.getByText('Invite someone …').click();
    await page.getByLabel('Email').fill(email);
    await page.getByLabel('Role').selectOption('admin');
    await click(page, 'Send invite');
    await page.locator('.rows li', { hasText: email }).getByText('admin', { exact: true }).waitFor();
    const invites = (await owner.get(`/api/teams/${id}/invites`)).body;
    expect(invites).toMatchObject([{ email, role: 'admin' }]);
    expect(invites[0].id).not.toBe(body.id);
  });

  test('an admin promotes a member, and demotes after a confirmation', async () => {
    const { owner, admin, member, id } = await crew();
    const page = await openTeam(admin, id);
    await click(page, `Make ${member.user.username} an admin`);
    await see(page, `${member.user.username} is now an admin.`);
    expect((await rolesOf(owner, id))[member.id]).toBe('admin');
    await click(page, `Make ${member.user.username} a member`);
    await inDialog(page, 'Cancel');
    expect((await rolesOf(owner, id))[member.id]).toBe('admin');
    await click(page, `Make ${member.user.username} a member`);
    await inDialog(page, 'Make member');
    await see(page, `${member.user.username} is now a member.`);
    expect((await rolesOf(owner, id))[member.id]).toBe('member');
    expect(await count(page, `Remove ${owner.user.username}`)).toBe(0);
  });

  test('a removed member disappears from the list, and its open page states that the team is gone', async () => {
    const { owner, member, id } = await crew();
    const [page, other] = [await openTeam(owner, id), await openTeam(member, id)];
    chromium.expectRefusals();
    await click(page, `Remove ${member.user.username}`);
    await inDialog(page, 'Remove');
    await see(page, `${member.user.username} is removed from the team.`);
    await see(page, 'Members (2)');
    expect(await rolesOf(owner, id)).not.toHaveProperty(member.id);
    await click(other, 'Leave the team …');
    await inDialog(other, 'Leave');
    await see(other, 'The team changed meanwhile: Insufficient permissions.');
    await heading(other, 'Team not found');
  });

  test('a member sees the topics and members, and manages nothing', async () => {
    const { owner, member, id } = await crew();
    const topic = await createTopic(owner, { access_level: 'private', team_id: id });
    const page = await openTeam(member, id);
    await see(page, 'You are a member: you read all topics of this team and publish to them.');
    expect(await page.locator('h2').allTextContents()).toEqual(['Topics', 'Members (3)', 'Leave the team']);
    expect(await page.locator('main').getByRole('button').allTextContents()).toEqual(['Leave the team …']);
    expect(await page.locator('main summary').count()).toBe(0);
    await page.getByRole('link', { name: topic.name }).click();
    await heading(page, topic.name);
  });

  test('the members of a larger team can be filtered', async () => {
    const owner = await stack.person({ tier: 'TEAM' });
    const members = await Promise.all(Array.from({ length: 10 }, () => stack.person()));
    const id = await stack.team(
      owner,
      members.map((one) => [one, 'member'] as const),
    );
    const page = await openTeam(owner, id);
    const rows = section(page, 'Members (11)').locator('li');
    expect(await rows.count()).toBe(11);
    await page.getByLabel('Filter the members').fill(members[3]!.user.username.toUpperCase());
    await eventually(async () => expect(await rows.count()).toBe(1));
    await page.getByLabel('Filter the members').fill('no-such-member');
    await see(page, 'No member matches “no-such-member”.');
  });

  test('a member leaves the team after a confirmation', async () => {
    const { member, id } = await crew();
    const page = await openTeam(member, id);
    await click(page, 'Leave the team …');
    await inDialog(page, 'Leave');
    await see(page, 'You are in no team.');
    expect((await member.get('/api/teams')).body).toEqual([]);
  });

  test('an admin creates a topic of the team, which belongs to the owner', async () => {
    const { owner, admin, id } = await crew();
    const page = await openTeam(admin, id);
    const name = newTopicName();
    await page.getByText('Create a topic …').click();
    await page.getByLabel('Name', { exact: true }).fill(name);
    await page.getByLabel('Access').selectOption('private');
    await click(page, 'Create topic');
    await page.locator('main').getByRole('link', { name }).waitFor();
    const { body } = await admin.get(`/api/topics/${name}`);
    expect(body).toMatchObject({ team_id: id, owner_id: owner.id, access_level: 'private' });
    expect(await page.getByText('Delete the team …').count()).toBe(0);
  });

  test('when all seats are used, the owner sees it, and an invite is refused with the reason', async () => {
    const owner = await stack.person({ tier: 'TEAM' });
    const id = await stack.team(owner);
    for (let seat = 2; seat <= 10; seat++) await stack.join(id, owner, [await stack.person(), 'member']);
    chromium.expectRefusals();
    const page = await openTeam(owner, id);
    await see(page, '10 of 10 seats used');
    await see(page, 'All seats are used: the server refuses to invite or add anyone');
    await page.getByText('Invite someone …').click();
    await page.getByLabel('Email').fill(newRegistration().email);
    await click(page, 'Send invite');
    await section(page, 'Invites').getByRole('status').filter({ hasText: 'Team is full' }).waitFor();
  });

  test.each([
    ['keep', 200],
    ['delete', 404],
  ])('deletes the team after its name is entered, with the choice to %s its topics', async (choice, status) => {
    const owner = await stack.person({ tier: 'TEAM' });
    const name = newName();
    const { id } = (await owner.post('/api/teams', { name, display_name: 'Crew' })).body;
    const topic = await createTopic(owner, { team_id: id });
    const page = await openTeam(owner, id);
    await page.getByText('Delete the team …').click();
    await page.getByLabel('Topics of the team').selectOption(choice);
    await page.getByLabel(`Enter ${name}`).fill('other');
    await click(page, 'Delete the team');
    await see(page, `Enter ${name} to confirm.`);
    await page.getByLabel(`Enter ${name}`).fill(name);
    await click(page, 'Delete the team');
    await see(page, 'You are in no team.');
    expect((await owner.get('/api/teams')).body).toEqual([]);
    expect((await owner.get(`/api/topics/${topic.name}`)).status).toBe(status);
  });

  test('a rename does not silently replace that of another admin', async () => {
    const { owner, admin, id } = await crew();
    const page = await openTeam(admin, id);
    await owner.patch(`/api/teams/${id}`, { display_name: 'Renamed by the owner' });
    await page.getByLabel('Display name').fill('Renamed by the admin');
    await click(page, 'Save');
    await see(page, 'Another admin changed the team meanwhile');
    await heading(page, 'Renamed by the owner');
    expect(await page.getByLabel('Display name').inputValue()).toBe('Renamed by the admin');
    await click(page, 'Save');
    await heading(page, 'Renamed by the admin');
    expect((await owner.get(`/api/teams/${id}`)).body.display_name).toBe('Renamed by the admin');
  });

  test("a demoted admin's action is refused with the reason, and the page shows the new role", async () => {
    const { owner, admin, member, id } = await crew();
    const page = await openTeam(admin, id);
    await owner.patch(`/api/teams/${id}/members/${admin.id}`, { role: 'member' });
    chromium.expectRefusals();
    await click(page, `Make ${member.user.username} an admin`);
    await see(page, 'The team changed meanwhile: Insufficient permissions. The page shows its current state.');
    await see(page, 'You are a member');
    expect(await page.locator('main').getByRole('button').allTextContents()).toEqual(['Leave the team …']);
  });

  /** How the text of the element influences the direction of the text around it. */
  const bidiOf = (element: Locator) =>
    element.evaluate((one) => {
      const browser = globalThis as unknown as { getComputedStyle(of: unknown): { unicodeBidi: string } };
      return browser.getComputedStyle(one).unicodeBidi;
    });

  test('markup and right-to-left overrides in names stay text inside their own element', async () => {
    const { owner, member, id } = await crew();
    const [hostile, description] = ['\u202E<img src=x onerror=alert(1)>', '\u202E<b>bold</b>'];
    await owner.patch(`/api/teams/${id}`, { display_name: hostile, description });
    const page = await openConsole(chromium, member, '/console/teams');
    const name = page.locator('main').getByText(hostile);
    await name.waitFor();
    expect(await bidiOf(name)).toBe('isolate');
    await name.click();
    await heading(page, hostile);
    expect(await bidiOf(page.locator('h1'))).toBe('isolate');
    expect(await bidiOf(page.locator('main').getByText(description))).toBe('isolate');
    await click(page, 'Leave the team …');
    expect(await bidiOf(page.locator('dialog bdi'))).toBe('isolate');
    await inDialog(page, 'Leave');
    // The toast has no markup: the override is removed.
    await see(page, 'You left \u2068<img src=x onerror=alert(1)>\u2069.');
    expect(await page.locator('main :is(img, b)').count()).toBe(0);
  });

  test('the palette opens a team, and the keyboard alone promotes and removes a member', async () => {
    const { owner, member, id } = await crew();
    await owner.patch(`/api/teams/${id}`, { display_name: 'Night shift' });
    const page = await openConsole(chromium, owner, '/console');
    await heading(page, 'Home');
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox').waitFor();
    await page.keyboard.type('night');
    await page.getByRole('option', { name: 'Night shift' }).waitFor();
    await page.keyboard.press('Enter');
    await heading(page, 'Night shift');
    await see(page, 'Members (3)');
    const { username } = member.user;
    await page.getByRole('button', { name: `Make ${username} an admin` }).focus();
    await page.keyboard.press('Enter');
    await see(page, `${username} is now an admin.`);
    // The focus stays on the same button, which now has another name.
    await page.keyboard.press('Tab');
    await page.keyboard.press('Space');
    await page.getByRole('dialog').waitFor();
    await page.keyboard.press('Escape');
    await page.locator('dialog').waitFor({ state: 'detached' });
    await page.keyboard.press('Space');
    await page.getByRole('dialog').waitFor();
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await see(page, `${username} is removed from the team.`);
    expect(await rolesOf(owner, id)).not.toHaveProperty(member.id);
    await eventually(async () => expect(await page.evaluate('document.activeElement.id')).toBe('members'));
  });
});
