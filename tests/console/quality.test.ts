import { expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { describeUnlessMissing } from '../../tools/test/describe-unless-missing.ts';
import { missingForChromium, useChromium } from '../support/chromium.ts';
import { expectNoScrollbar, failure, findInaccessible, looks, ready } from '../support/page-quality.ts';
import { isLive, openConsole } from '../support/open-console.ts';
import { newRegistration } from '../support/registration.ts';
import { Client, createTopic, newTopicName, testStack } from '../support/stack.ts';
import { useStack, type Person } from '../support/use-stack.ts';

/** The limit of the script of the first page. */
const scriptMaxBytes = 120 * 1_024;

const accessPages = [
  '/console/login',
  '/console/register',
  '/console/forgot-password',
  '/console/resend',
  '/auth/verified?status=error&message=Invalid',
  '/auth/reset-password#token=x',
  '/auth/undo-email-change#token=x',
  '/auth/accept-invite#token=x',
  '/auth/callback#error=access_denied',
  '/console/nothing-here',
];

const accountPages = ({
  name: topic,
  teamId,
  teamTopic,
}: {
  name: string;
  teamId: string;
  teamTopic: string;
}): readonly string[] => [
  '/console',
  `/console/topics/${topic}`,
  `/console/topics/${topic}/activity`,
  `/console/topics/${topic}/log`,
  `/console/topics/${topic}/notifications`,
  `/console/topics/${topic}/scheduled`,
  `/console/topics/${topic}/settings`,
  `/console/topics/${teamTopic}`,
  `/console/topics/${teamTopic}/notifications`,
  '/console/search?q=w',
  '/console/devices',
  '/console/keys',
  '/console/teams',
  `/console/teams/${teamId}`,
  '/console/account',
];

describeUnlessMissing('in Chromium', missingForChromium(), () => {
  const stack = useStack();
  const chromium = useChromium();

  async function openAs(account: { email: string; password: string }, path: string, options = {}): Promise<Page> {
    const page = await openConsole(chromium, account, path, options);
    await ready(page);
    return page;
  }

  const go = async (page: Page, path: string) => {
    await page.goto(testStack().urls[0]! + path);
    await ready(page);
  };

  /** An account with a topic that shows every kind of message, and with a team. */
  async function withMessages(): Promise<{ owner: Person; name: string; teamId: string; teamTopic: string }> {
    const owner = await stack.person({ tier: 'ESSENTIALS' });
    const { name } = await createTopic(owner, { access_level: 'private', description: 'x'.repeat(200) });
    await owner.post('/api/subscriptions', { topic_name: name });
    const text = '# Report\n\n- one\n- `two`\n\n[link](https://example.org)';
    await owner.post('/', { topic: name, message: 'w'.repeat(300), title: 't'.repeat(200), priority: 1, tags: ['ok'] });
    await owner.post('/', { topic: name, message: text, markdown: true, priority: 5, tags: ['x'.repeat(60)] });
    const teamId = await stack.team(owner, [[await stack.person(), 'admin']]);
    await owner.patch(`/api/teams/${teamId}`, { display_name: 'w'.repeat(80), description: 'd'.repeat(500) });
    await owner.post(`/api/teams/${teamId}/invites`, { email: newRegistration().email, role: 'member' });
    const { name: teamTopic } = await createTopic(owner, { access_level: 'private', team_id: teamId });
    await owner.post(`/api/teams/${teamId}/subscriptions`, { topic_name: teamTopic, members: 'all', mandatory: true });
    return { owner, name, teamId, teamTopic };
  }

  test.each(looks)('on %s the pages without a login are accessible and not cut off', async (_where, width, scheme) => {
    const page = await chromium.open('/console/login', { viewport: { width, height: 740 }, colorScheme: scheme });
    for (const path of accessPages) {
      await go(page, path);
      expect([path, await findInaccessible(page)]).toEqual([path, []]);
      await expectNoScrollbar(page, width);
    }
  });

  test.each(looks)('on %s the pages of an account are accessible and not cut off', async (_where, width, scheme) => {
    const { owner, ...items } = await withMessages();
    const page = await openAs(owner, '/console', { viewport: { width, height: 740 }, colorScheme: scheme });
    for (const path of accountPages(items)) {
      await go(page, path);
      expect([path, await findInaccessible(page)]).toEqual([path, []]);
      await expectNoScrollbar(page, width);
    }
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox').waitFor();
    expect(await findInaccessible(page)).toEqual([]);
  });

  test.each(looks)('on %s the dialogs of consumers are accessible and not cut off', async (_where, width, scheme) => {
    const { owner, name } = await withMessages();
    await owner.put(`/api/topics/${name}/consumers/archive`, { offset: 0 });
    const path = `/console/topics/${name}/log`;
    const page = await openAs(owner, path, { viewport: { width, height: 740 }, colorScheme: scheme });
    await page.getByText('Lines for the shell').click();
    for (const opener of ['Create a consumer', 'Set the offset of archive', 'Delete the consumer archive']) {
      await page.getByRole('button', { name: opener }).click();
      await page.getByRole('dialog').waitFor();
      expect([opener, await findInaccessible(page)]).toEqual([opener, []]);
      await expectNoScrollbar(page, width);
      await page.keyboard.press('Escape');
      await page.getByRole('dialog').waitFor({ state: 'detached' });
    }
  });

  test('a server error on any page is explained, and the page works after "Try again"', async () => {
    const { owner, ...items } = await withMessages();
    chromium.expectRefusals();
    const page = await openAs(owner, '/console');
    const failing = /\/(api|auth)\/(?!sse)|\/json\?/;
    for (const path of accountPages(items)) {
      await page.route(failing, (route) =>
        route.request().resourceType() === 'document' ? route.continue() : route.fulfill(failure),
      );
      await page.goto(testStack().urls[0]! + path);
      const alert = page.locator('main').getByRole('alert').first();
      await alert.filter({ hasText: 'The server cannot process the request right now' }).waitFor();
      expect(await page.getByText('Oops').count()).toBe(0);
      await page.unroute(failing);
      await page.getByRole('button', { name: 'Try again' }).first().click();
      await alert.waitFor({ state: 'detached' });
      await ready(page);
    }
  });

  test('right-to-left overrides and markup stay inside the text that contains them', async () => {
    const owner = await stack.person();
    const { name } = await createTopic(owner, { description: '\u202Enoitpircsed <b>bold</b>' });
    await owner.post('/', { topic: name, message: '\u202Egnissem <script>alert(1)</script>', title: '\u202Eeltit' });
    await owner.post('/', {
      topic: name,
      markdown: true,
      message: '<img src=x onerror=alert(1)> ![i](https://example.org/i.png) [a](javascript:alert(2)) **b** \u202Ex',
    });
    const page = await openAs(owner, `/console/topics/${name}`);
    await page.locator('.markdown strong').waitFor();
    expect(await page.locator('.content :is(script, img, svg, iframe)').count()).toBe(0);
    const links = await page.locator('.content a').evaluateAll((found) => found.map((link) => String(link)));
    // An image becomes a link, which loads nothing.
    expect(links).toEqual(['https://example.org/i.png']);
    const isolated = (await page.evaluate(
      `[...document.querySelectorAll('.content :is(h3, .text)')].map((one) => getComputedStyle(one).unicodeBidi)`,
    )) as string[];
    expect(isolated.length).toBeGreaterThan(2);
    expect(new Set(isolated)).toEqual(new Set(['isolate']));
  });

  /** A topic of another team that everyone can find. */
  async function listTopicOfTeam(): Promise<void> {
    const other = await stack.person({ tier: 'TEAM' });
    const { body } = await other.post('/api/teams', {
      name: `team-${newTopicName()}`.slice(0, 40),
      display_name: 'Other',
    });
    const topic = { name: newTopicName(), team_id: body.id, is_discoverable: true, description: 'Listed' };
    expect((await other.post('/api/topics', topic)).status).toBe(201);
  }

  test('a new account gets from the first page to its first message with one click and one command', async () => {
    await listTopicOfTeam();
    const owner = await stack.person();
    const page = await openAs(owner, '/console');
    await page.getByRole('button', { name: 'Create my first topic' }).click();
    const command = await page.locator('.first-message code').textContent();
    const [, text, address] = /^curl -d '(.+)' (\S+)$/.exec(command!)!;
    await isLive(page);
    await new Client().call('POST', new URL(address!).pathname, { text: text! });
    await page.locator('.message .text').filter({ hasText: text! }).waitFor();
  });

  test('the first page loads less than 120 KB of compressed script', async () => {
    const page = await chromium.open('/console/register');
    const sizes = (await page.evaluate(
      `performance.getEntriesByType('resource').filter(({ name }) => name.endsWith('.js')).map((one) => one.encodedBodySize)`,
    )) as number[];
    expect(sizes.length).toBeGreaterThan(0);
    expect(sizes.reduce((sum, size) => sum + size)).toBeLessThan(scriptMaxBytes);
  });
});
