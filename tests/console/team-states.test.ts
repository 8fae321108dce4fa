import { expect, test } from '@jest/globals';
import { teamInvites } from '@tocsin/shared/collections/team-invites.ts';
import { users } from '@tocsin/shared/collections/users.ts';
import { setTeamActive } from '@tocsin/shared/operations/teams/set-team-active.ts';
import { testAudit } from '@tocsin/shared/testing/builders.ts';
import { describeUnlessMissing } from '../../tools/test/describe-unless-missing.ts';
import { missingForChromium, useChromium } from '../support/chromium.ts';
import { mailedLink } from '../support/mailbox.ts';
import { openConsole } from '../support/open-console.ts';
import { newRegistration } from '../support/registration.ts';
import { useStack } from '../support/use-stack.ts';
import { useStore } from '../support/use-store.ts';

describeUnlessMissing('in Chromium', missingForChromium(), () => {
  const stack = useStack();
  const store = useStore();
  const chromium = useChromium();

  /** A team that is deactivated as by the retention service, with an owner of this tier. */
  async function deactivatedTeam(tier: 'TEAM' | 'FREE') {
    const [owner, admin] = [await stack.person({ tier }), await stack.person()];
    const id = await stack.team(owner, [[admin, 'admin']]);
    await setTeamActive(store.documents(), id, { isActive: false, now: Date.now() }, testAudit);
    return { owner, admin, id };
  }

  test('the owner reactivates a deactivated team', async () => {
    const { owner, id } = await deactivatedTeam('TEAM');
    const page = await openConsole(chromium, owner, '/console/teams');
    await page.getByText('will be removed on').waitFor();
    await page.getByRole('button', { name: 'Reactivate' }).click();
    await page.getByText('is active again.').waitFor();
    expect(await page.getByText('will be removed on').count()).toBe(0);
    expect((await owner.get(`/api/teams/${id}`)).body.is_active).toBe(true);
  });

  test('an owner below the TEAM tier sees why the team cannot be reactivated, and an admin that only the owner can', async () => {
    const { owner, admin, id } = await deactivatedTeam('FREE');
    const page = await openConsole(chromium, owner, `/console/teams/${id}`);
    await page.getByText('Reactivating a team requires the TEAM tier').waitFor();
    expect(await page.getByRole('button', { name: 'Reactivate' }).isDisabled()).toBe(true);
    expect(await page.locator('main summary').allTextContents()).toEqual(['Delete the team …']);
    const other = await openConsole(chromium, admin, `/console/teams/${id}`);
    await other.getByText('Only the owner can reactivate it.').waitFor();
    await other.getByText('A deactivated team cannot invite anyone.').waitFor();
  });

  test('an expired invite and a disabled account are marked', async () => {
    const [owner, member] = [await stack.person({ tier: 'TEAM' }), await stack.person()];
    const id = await stack.team(owner, [[member, 'member']]);
    const { email } = newRegistration();
    const invite = (await owner.post(`/api/teams/${id}/invites`, { email, role: 'member' })).body;
    // The notifier changes the invite before it sends the email.
    await mailedLink(email, 'team-invite');
    const stored = (await store.documents().get(teamInvites, invite.id))!;
    await store.documents().update(teamInvites, stored, { expiresAt: Date.now() - 1_000 });
    const user = (await store.documents().get(users, member.id))!;
    await store.documents().update(users, user, { isActive: false });
    const page = await openConsole(chromium, owner, `/console/teams/${id}`);
    const row = (text: string) => page.locator('.rows li', { hasText: text });
    await row(email).getByText('expired', { exact: true }).waitFor();
    await row(member.email).getByText('account disabled').waitFor();
    await page.getByRole('button', { name: `Resend the invite for ${email}` }).click();
    await row(email).getByText('expires in').waitFor();
    expect((await owner.get(`/api/teams/${id}/invites`)).body).toMatchObject([{ is_expired: false }]);
  });
});
