import { randomUUID } from 'node:crypto';
import { afterAll, describe, expect, test } from '@jest/globals';
import { readRetentionState, retentionStates } from '@tocsin/shared/collections/retention-runs.ts';
import { eventually } from '@tocsin/shared/testing/eventually.ts';
import { startExpoSimulator } from '@tocsin/simulators/expo-simulator.ts';
import type { Page } from 'playwright-core';
import { describeUnlessMissing } from '../../tools/test/describe-unless-missing.ts';
import { missingForChromium, useChromium } from '../support/chromium.ts';
import { see } from '../support/open-console.ts';
import { expectNoScrollbar, failure, findInaccessible, looks, ready } from '../support/page-quality.ts';
import { Client, createAccount, createTopic, made, type Account } from '../support/stack.ts';
import { useOwnStack } from '../support/use-own-stack.ts';

const token = 'the-operator-of-the-tests';
const expo = await startExpoSimulator();
// A failed push is retried once; messages of the FREE tier expire within seconds, and only the operator removes them.
const { stack, store } = await useOwnStack(
  {
    RATE_LIMITS: 'off',
    EXPO_URL: expo.url,
    PUSH_RETRY_SECONDS: '1',
    ADMIN_TOKEN: token,
    RETENTION_DAYS_FREE: String(2_000 / 86_400_000),
    RETENTION_SCHEDULE: '0 0 1 1 *',
  },
  'nodes',
);
afterAll(() => expo.close());

const operator = new Client(token, stack.urls);
const person = (tier: 'FREE' | 'TEAM' = 'TEAM'): Promise<Account> => createAccount(store, { tier, urls: stack.urls });
const patience = { timeoutMs: 30_000 };

const tabs = ['', '/dead-letters', '/retention', '/audit', '/tiers'].map((tab) => `/console/admin${tab}`);

/** Text that must not leave its place. */
const hostile = '\u202Eelitsoh <b>bold</b><img src=x>';

describeUnlessMissing("the operator's screens", missingForChromium(), () => {
  const chromium = useChromium(() => stack.urls[0]!);
  const button = (page: Page, name: string | RegExp) => page.getByRole('button', { name });
  const confirm = (page: Page, name: string | RegExp) => page.getByRole('dialog').getByRole('button', { name }).click();

  async function enter(page: Page, secret = token): Promise<void> {
    await page.getByLabel('Token of the operator').fill(secret);
    await page.keyboard.press('Enter');
  }

  async function openTab(path: string, options = {}): Promise<Page> {
    const page = await chromium.open(path, options);
    await enter(page);
    await page.getByRole('navigation', { name: 'Operator' }).waitFor();
    await ready(page);
    return page;
  }

  describe('the token', () => {
    const stored = (page: Page) =>
      page.evaluate('[Object.keys(localStorage), sessionStorage.getItem("tocsin.operator")]');

    test('is asked for at /admin and stays in the tab, not in the URL', async () => {
      const page = await openTab('/admin');
      expect(await stored(page)).toEqual([['tocsin.theme'], token]);
      await page.reload();
      await see(page, 'The server is ready');
      await page.getByRole('link', { name: 'Audit log' }).click();
      await page.waitForURL(`${stack.urls[0]}/console/admin/audit`);
      const tab = await page.context().newPage();
      await tab.goto(`${stack.urls[0]}/console/admin`);
      await tab.getByLabel('Token of the operator').waitFor();
      await button(page, 'Forget the token').click();
      await page.getByLabel('Token of the operator').waitFor();
      expect(await stored(page)).toEqual([['tocsin.theme'], null]);
    });

    test('shows a link to these screens in the navigation until it is forgotten', async () => {
      chromium.expectRefusals();
      const link = (page: Page) => page.locator('.sidebar').getByRole('link', { name: 'Operator' });
      const page = await chromium.open('/admin');
      await page.getByLabel('Token of the operator').waitFor();
      expect(await link(page).count()).toBe(0);
      await enter(page);
      await link(page).waitFor();
      expect(await link(page).getAttribute('aria-current')).toBe('page');
      await page.goto(`${stack.urls[0]}/console/topics/unknown`);
      await link(page).click();
      await see(page, 'The server is ready');
      await button(page, 'Forget the token').click();
      await link(page).waitFor({ state: 'detached' });
    });

    test('is refused with the reason if it is wrong, at the start and later', async () => {
      chromium.expectRefusals();
      const page = await chromium.open('/console/admin');
      await enter(page, 'wrong');
      await see(page, 'The server rejected the token.');
      expect(await stored(page)).toEqual([['tocsin.theme'], null]);
      await page.evaluate('sessionStorage.setItem("tocsin.operator", "a former token")');
      await page.goto(`${stack.urls[0]}/console/admin/retention`);
      await page.getByRole('alert').filter({ hasText: 'The server rejected the token.' }).waitFor();
      await enter(page);
      await see(page, 'Expired messages');
    });

    test('is useless at a proxy that blocks the operator, which the page states', async () => {
      chromium.expectRefusals();
      const page = await chromium.open('/console/admin');
      await page.route('**/admin/holds*', (route) => route.fulfill({ status: 403, body: '<h1>Forbidden</h1>' }));
      await enter(page);
      await see(page, 'A proxy blocks /admin at this address.');
    });

    test('is not needed for the first script of the console', async () => {
      const page = await chromium.open('/console/login');
      const scripts = () =>
        page.evaluate(
          `performance.getEntriesByType('resource').map(({ name }) => name).filter((name) => /\\/admin-/.test(name))`,
        );
      expect(await scripts()).toEqual([]);
      await page.goto(`${stack.urls[0]}/admin`);
      await page.getByLabel('Token of the operator').waitFor();
      expect(await scripts()).not.toEqual([]);
    });
  });

  describe('the overview', () => {
    test('shows health, process, load and queues', async () => {
      const owner = await person();
      const { name } = await createTopic(owner);
      const page = await openTab('/admin');
      await see(page, 'The server is ready, and all its parts are up.');
      await see(page, /^0\.1\.0$/);
      await see(page, 'push-normal');
      const publishes = page.getByRole('figure').filter({ hasText: 'Publishes per second' });
      await eventually(async () => {
        await made(owner.client.call('POST', `/${name}`, { text: 'a message' }));
        expect(Number(await publishes.locator('strong').textContent())).toBeGreaterThan(0);
      }, patience);
      expect(await publishes.getByRole('img').getAttribute('aria-label')).toMatch(
        /^Publishes per second in the last hour: at most [\d.]+$/,
      );
    });

    test('states which process the values come from', async () => {
      const isAlone = stack.engine === 'embedded';
      const page = await openTab('/admin');
      await see(page, /^Process \d+ on .* samples its values every 15 seconds/);
      expect(await page.getByText('those of this process alone').count()).toBe(isAlone ? 0 : 1);
      const pushes = page.getByRole('figure').filter({ hasText: 'Pushes per second' });
      // On the cluster, other processes send the pushes.
      await pushes.getByText(isAlone ? /^at most [\d.]+$/ : 'not sent by this process').waitFor();
    });

    test('names the parts that are down', async () => {
      chromium.expectRefusals();
      const page = await openTab('/console/admin/tiers');
      const parts = { log: 'ok', database: 'ok', queue: 'down', bus: 'down' };
      await page.route('**/health/ready', (route) => route.fulfill({ status: 503, json: { status: 'down', parts } }));
      await page.getByRole('link', { name: 'Overview' }).click();
      await see(page, 'The server is not ready');
      expect(await page.locator('.parts li').allTextContents()).toEqual([
        'Event logup',
        'Databaseup',
        'Job queuedown',
        'Busdown',
      ]);
    });
  });

  /** A subscriber's phone, whose pushes fail until `expo.script` says otherwise. */
  async function failingPhone(topicName: string): Promise<string> {
    const { client } = await person();
    const phone = `ExponentPushToken[${randomUUID()}]`;
    expo.script(phone, { kind: 'status', status: 503 });
    await made(
      client.call('POST', '/api/devices/register', {
        json: { push_token: phone, platform: 'expo', device_id: 'phone' },
      }),
    );
    await made(client.call('POST', '/api/subscriptions', { json: { topic_name: topicName } }));
    return phone;
  }

  test('a dead letter is retried with two clicks, and so are all of them', async () => {
    const owner = await person();
    const { name } = await createTopic(owner);
    const phone = await failingPhone(name);
    const publish = () => made(owner.client.call('POST', `/${name}`, { text: 'the pump stopped' }));
    const ids = [(await publish()).id, (await publish()).id, (await publish()).id];
    const listed = async () => (await operator.call('GET', `/admin/push/dead-letters?topic=${name}`)).body;
    await eventually(async () => expect(await listed()).toHaveLength(3), patience);
    const sent = () => expo.pushes.flatMap((push) => (push.token === phone ? [push.messageId] : []));
    const page = await openTab('/console/admin/dead-letters');
    await page.getByLabel('Topic').fill(name);
    await page.keyboard.press('Enter');
    await see(page, '3 dead letters');
    expect(await page.locator('.rows li').first().textContent()).toContain('1 pushes failed for too long');

    expo.script(phone, { kind: 'ok' });
    await button(page, `Retry the message ${ids[1]} of ${name}`).click();
    await confirm(page, 'Retry');
    await see(page, '1 dead letter enqueued again.');
    await eventually(() => expect(sent()).toEqual([ids[1]]), patience);
    await see(page, /^2 dead letters$/);
    await button(page, 'Retry all of this topic').click();
    await confirm(page, 'Retry');
    await see(page, '2 dead letters enqueued again.');
    await eventually(() => expect(new Set(sent())).toEqual(new Set(ids)), patience);
    await see(page, 'No dead letter of this topic.');
  });

  describe('retention', () => {
    /** A topic of the FREE tier with messages that have expired. */
    async function withExpired(count: number): Promise<string> {
      const owner = await person('FREE');
      const { name } = await createTopic(owner);
      for (let at = 0; at < count; at += 1) await made(owner.client.call('POST', `/${name}`, { text: 'soon gone' }));
      await eventually(async () => {
        const { body } = await operator.call('GET', '/admin/retention/plan?limit=1000');
        expect(body.topics).toContainEqual(expect.objectContaining({ topic: name, messages: count }));
      }, patience);
      return name;
    }

    test('a run is started with two clicks and reported when it is done', async () => {
      const name = await withExpired(3);
      const page = await openTab('/console/admin/retention');
      await page.getByText(/^\d+ topics? …$/).click();
      await page.locator('li').filter({ hasText: name }).filter({ hasText: '3 messages' }).waitFor();
      await button(page, 'Remove now').click();
      await confirm(page, /^Remove \d+ message/);
      await page.getByText('done', { exact: true }).first().waitFor();
      await see(page, /^0 messages$/);
      const { body } = await operator.call('GET', '/admin/retention/history');
      expect(body[0]).toMatchObject({ started_by: 'api', outcome: 'done' });
    });

    test('an unusually large plan that waits is confirmed with two clicks', async () => {
      const state = await readRetentionState(store.documents);
      const upTo = Date.now() - 1_000;
      const volume = { messages: 12_345, bytes: 2_048 };
      const waiting = {
        upTo,
        since: upTo,
        ...volume,
        tiers: [{ tier: 'FREE', ...volume, ofMessages: 20_000 }],
      } as const;
      await store.documents.update(retentionStates, state, { waiting });
      const page = await openTab('/console/admin/retention');
      await see(page, /12,345 messages \(2 KB\)/);
      await see(page, /FREE 12,345 of 20,000/);
      await button(page, 'Confirm the plan').click();
      await confirm(page, 'Remove 12,345 messages');
      await see(page, 'The run is requested');
      await eventually(async () => {
        const { body } = await operator.call('GET', '/admin/retention/history');
        expect(body[0]).toMatchObject({ up_to: new Date(upTo).toISOString(), outcome: 'done' });
      }, patience);
      await button(page, 'Confirm the plan').waitFor({ state: 'detached' });
    });

    test('is paused with a reason, which stays text, and resumed', async () => {
      const page = await openTab('/console/admin/retention');
      await page.getByText('Pause retention …').click();
      await page.getByLabel('Reason').fill(hostile);
      await button(page, 'Pause').click();
      await page.locator('.state bdi').filter({ hasText: hostile }).waitFor();
      expect(await page.locator('.state :is(b, img)').count()).toBe(0);
      expect((await operator.call('GET', '/admin/retention/plan')).body.paused_at).toEqual(expect.any(String));
      await button(page, 'Resume').click();
      await page.getByText('Pause retention …').waitFor();
      expect((await operator.call('GET', '/admin/retention/plan')).body.paused_at).toBeNull();
    });

    test('spares a topic under legal hold, whose kept messages can be downloaded', async () => {
      const name = await withExpired(1);
      const page = await openTab('/console/admin/retention');
      await page.getByText('Put a topic under legal hold …').click();
      await page.getByLabel('Name of the topic').fill(name);
      await button(page, 'Hold').click();
      await see(page, `${name} is under legal hold.`);
      const download = page.waitForEvent('download');
      await button(page, `Download what the hold keeps of ${name}`).click();
      expect((await download).suggestedFilename()).toBe(`${name}-held.ndjson`);
      await button(page, `End the hold of ${name}`).click();
      await confirm(page, 'End the hold');
      await see(page, `The legal hold of ${name} has ended.`);
      await see(page, 'No topic is under legal hold.');
    });
  });

  describe('the audit log', () => {
    test('is filtered and continues with older entries', async () => {
      const { client, email } = await person();
      for (let at = 0; at < 51; at += 1) await made(client.call('POST', '/api/keys', { json: { name: `key ${at}` } }));
      await made(client.call('POST', '/api/topics', { json: { name: `t-${randomUUID()}` } }));
      const page = await openTab('/console/admin/audit');
      await page.getByLabel('Actor').fill(email);
      await page.getByLabel('Action').selectOption('API key created');
      await button(page, 'Filter').click();
      const rows = page.getByRole('list', { name: 'Entries' }).getByRole('listitem');
      await rows.filter({ hasText: 'key 50' }).waitFor();
      expect(await rows.count()).toBe(50);
      await button(page, 'Show older entries').click();
      await rows.filter({ hasText: /key 0\b/ }).waitFor();
      expect(await rows.count()).toBe(51);
      expect(new URL(page.url()).search).toContain('action=api_key.created');
      await page.getByLabel('Action').selectOption('Team created');
      await button(page, 'Filter').click();
      await see(page, 'No entry matches. Remove a filter.');
    });

    test('shows markup and right-to-left overrides of names inside their place', async () => {
      const { client, user } = await person();
      await made(
        client.call('POST', '/api/keys', { json: { name: hostile }, headers: { 'User-Agent': '<script>x</script>' } }),
      );
      const page = await openTab(`/console/admin/audit?actor=${user.id}`);
      const row = page.getByRole('list', { name: 'Entries' }).getByRole('listitem').first();
      const name = row.locator('bdi.name').filter({ hasText: hostile });
      await name.waitFor();
      expect(await row.locator('b, img, script').count()).toBe(0);
      await row.locator('.agent').filter({ hasText: '<script>x</script>' }).waitFor();
      const isolated = (await page.evaluate(
        `[...document.querySelectorAll('.rows :is(bdi, .agent)')].map((one) => getComputedStyle(one).unicodeBidi)`,
      )) as string[];
      expect(isolated.length).toBeGreaterThan(2);
      expect(new Set(isolated)).toEqual(new Set(['isolate']));
    });
  });

  test('a tier is set and shown among the latest changes', async () => {
    chromium.expectRefusals();
    const { email, user, client } = await person('FREE');
    const page = await openTab('/console/admin/tiers');
    await page.getByLabel('Email of the account').fill('nobody@example.org');
    await button(page, 'Set the tier').click();
    await see(page, 'User not found');
    await page.getByLabel('Email of the account').fill(email);
    await page.getByLabel('Tier', { exact: true }).selectOption('TEAM');
    await page.getByLabel('Expires').fill('2099-12-31T12:00');
    await page.getByLabel('Additional seats').fill('3');
    await button(page, 'Set the tier').click();
    await see(page, /has the tier TEAM, until .*2099.* and 3 additional seats/);
    await page.locator('.rows li').filter({ hasText: user.username }).filter({ hasText: 'TEAM' }).waitFor();
    expect((await client.call('GET', '/api/users/me')).body).toMatchObject({ subscription_tier: 'TEAM' });
  });

  describe('on every tab', () => {
    /** Something to see on each tab. */
    async function arrange(): Promise<void> {
      const owner = await person();
      const { name } = await createTopic(owner);
      await failingPhone(name);
      await made(owner.client.call('POST', `/${name}`, { text: 'the pump stopped' }));
      await made(operator.call('PUT', `/admin/topics/${name}/hold`));
      await made(operator.call('PUT', `/admin/users/${owner.email}/tier`, { json: { tier: 'TEAM' } }));
      await eventually(async () => {
        expect((await operator.call('GET', `/admin/push/dead-letters?topic=${name}`)).body).toHaveLength(1);
      }, patience);
    }

    test.each(looks)('on %s, the page is accessible and not cut off', async (_where, width, colorScheme) => {
      await arrange();
      const page = await openTab('/console/admin', { viewport: { width, height: 740 }, colorScheme });
      for (const path of tabs) {
        await page.goto(stack.urls[0]! + path);
        await ready(page);
        expect([path, await findInaccessible(page)]).toEqual([path, []]);
        await expectNoScrollbar(page, width);
      }
      await page.goto(`${stack.urls[0]}/console/admin/dead-letters`);
      await button(page, 'Retry all').click();
      await page.getByRole('dialog').waitFor();
      expect(await findInaccessible(page)).toEqual([]);
      await page.keyboard.press('Escape');
      await button(page, 'Forget the token').click();
      await page.getByLabel('Token of the operator').waitFor();
      expect(await findInaccessible(page)).toEqual([]);
    });

    test.each(tabs)('a server error is explained at %s, and the page works after "Try again"', async (path) => {
      chromium.expectRefusals();
      const page = await openTab('/console/admin');
      const failing = /\/admin\/|\/health\//;
      await page.route(failing, (route) =>
        route.request().resourceType() === 'fetch' ? route.fulfill(failure) : route.continue(),
      );
      await page.goto(stack.urls[0]! + path);
      const alerts = page.locator('main .error-state');
      await alerts.first().filter({ hasText: 'The server cannot process the request right now' }).waitFor();
      expect(await page.getByText('Oops').count()).toBe(0);
      await page.unroute(failing);
      await eventually(async () => {
        if ((await alerts.count()) > 0) await button(page, 'Try again').first().click({ timeout: 1_000 });
        expect(await alerts.count()).toBe(0);
      }, patience);
      await ready(page);
      await page.locator('main h2').first().waitFor();
    });
  });
});
