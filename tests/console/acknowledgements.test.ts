import { expect, test } from '@jest/globals';
import { eventually } from '@tocsin/shared/testing/eventually.ts';
import type { Page } from 'playwright-core';
import { describeUnlessMissing } from '../../tools/test/describe-unless-missing.ts';
import { missingForChromium, useChromium } from '../support/chromium.ts';
import { isLive, openConsole, typeLogin } from '../support/open-console.ts';
import { expectNoScrollbar, findInaccessible, looks } from '../support/page-quality.ts';
import { createTopic, made } from '../support/stack.ts';
import { useStack, type Person } from '../support/use-stack.ts';

/** Tries to leave its place in the page. */
const hostile = '<img src=x onerror=alert(1)>\u202Eevil';

describeUnlessMissing('in Chromium', missingForChromium(), () => {
  const stack = useStack();
  const chromium = useChromium();

  /** A topic whose urgent messages require an acknowledgement. */
  async function escalatingTopic(given: Record<string, unknown> = {}) {
    const owner = await stack.person({ tier: 'TEAM' });
    const topic = await createTopic(owner, given);
    await owner.post('/api/subscriptions', { topic_name: topic.name });
    const steps = [{ after: '1h', to: { users: [owner.id] } }];
    const policy = { min_priority: 5, repeat_every: '30m', repeat_max: 5, steps, auto_ack_on_resolve: true };
    await made(owner.put(`/api/topics/${topic.id}/escalation`, policy));
    return { owner, topic, path: `/console/topics/${topic.name}` };
  }

  const publish = (owner: Person, topic: { name: string }, given: object = {}) =>
    made(owner.post('/', { topic: topic.name, message: 'The pump has stopped', priority: 5, ...given }));

  const messageOf = (page: Page, text = 'The pump has stopped') => page.locator('.message').filter({ hasText: text });
  const acknowledging = { name: /^Acknowledge/ };

  test('an acknowledgement and its undo appear immediately in another browser', async () => {
    const { owner, topic, path } = await escalatingTopic();
    const other = await stack.person();
    await publish(owner, topic);
    const [page, others] = [await openConsole(chromium, owner, path), await openConsole(chromium, other, path)];
    await isLive(others);
    await messageOf(others).getByText('Needs acknowledgement').waitFor();
    await messageOf(page).getByRole('button', acknowledging).click();
    await messageOf(others).getByText(`Acknowledged by ${owner.user.username}, just now`).waitFor();
    expect(await messageOf(others).getByRole('button', acknowledging).count()).toBe(0);
    await page.getByRole('button', { name: 'Undo' }).click();
    await messageOf(others).getByText('Needs acknowledgement').waitFor();
    await messageOf(page).getByText('Needs acknowledgement').waitFor();
  });

  test('a message that arrives live is acknowledged with a note, and taken back, by keyboard', async () => {
    const { owner, topic, path } = await escalatingTopic();
    const page = await openConsole(chromium, owner, path);
    await isLive(page);
    const { id } = await publish(owner, topic);
    await messageOf(page).getByRole('button', { name: 'With a note' }).press('Enter');
    await page.keyboard.type('on my way');
    await page.keyboard.press('Enter');
    await messageOf(page).getByText(`Acknowledged by ${owner.user.username}, just now: on my way`).waitFor();
    expect((await owner.post(`/api/messages/${id}/ack`, {})).body).toMatchObject({ note: 'on my way' });
    await messageOf(page).getByRole('button', { name: 'Take back' }).press('Enter');
    await messageOf(page).getByText('Needs acknowledgement').waitFor();
    expect((await owner.get(`/${topic.name}/json`)).body.messages).toMatchObject([{ acknowledged_at: null }]);
  });

  test('a button of the message acknowledges it, also without a policy', async () => {
    const owner = await stack.person();
    const topic = await createTopic(owner);
    await publish(owner, topic, { actions: [{ action: 'ack', label: 'I have it' }] });
    const page = await openConsole(chromium, owner, `/console/topics/${topic.name}`);
    await messageOf(page).getByRole('button', { name: 'I have it' }).click();
    await messageOf(page).getByText(`Acknowledged by ${owner.user.username}`).waitFor();
    expect((await owner.get(`/${topic.name}/json`)).body.messages).toMatchObject([
      { acknowledged_by: { kind: 'account', name: owner.user.username } },
    ]);
  });

  test('an acknowledgement that came second names the first', async () => {
    const { owner, topic, path } = await escalatingTopic();
    const other = await stack.person();
    const { id } = await publish(owner, topic);
    chromium.expectRefusals();
    const page = await chromium.open(`/console/login?next=${path}`);
    // Without a stream, the page does not learn who was first.
    await page.route(/\/sse/, (route) => route.abort());
    await typeLogin(page, owner);
    await messageOf(page).getByText('Needs acknowledgement').waitFor();
    await made(other.post(`/api/messages/${id}/ack`, {}));
    await messageOf(page).getByRole('button', acknowledging).click();
    await page.getByText(`${other.user.username} has already acknowledged the message.`).waitFor();
    await messageOf(page).getByText(`Acknowledged by ${other.user.username}`).waitFor();
    expect(await page.getByRole('button', { name: 'Undo' }).count()).toBe(0);
  });

  test('the log names acknowledgements and their withdrawals', async () => {
    const { owner, topic, path } = await escalatingTopic();
    const { id, offset } = await publish(owner, topic);
    await made(owner.post(`/api/messages/${id}/ack`, {}));
    expect((await owner.delete(`/api/messages/${id}/ack`)).status).toBe(204);
    const page = await openConsole(chromium, owner, `${path}/log`);
    await page.getByText(`Acknowledgement of message ${offset}`, { exact: true }).waitFor();
    await page.getByText(`Withdrawn acknowledgement of message ${offset}`).waitFor();
  });

  test('the home page, the topic and the navigation show what waits and when it is pushed again', async () => {
    const { owner, topic, path } = await escalatingTopic();
    const page = await openConsole(chromium, owner, '/console');
    await page.getByRole('region', { name: 'Subscriptions' }).waitFor();
    expect(await page.getByRole('region', { name: 'Needs acknowledgement' }).count()).toBe(0);
    await publish(owner, topic, { title: 'Pump' });
    await publish(owner, topic, { title: 'Valve' });
    const list = page.getByRole('region', { name: 'Needs acknowledgement' });
    await list
      .getByText(/next push in \d+ min · step 1 in (\d+ min|1 hr)/)
      .first()
      .waitFor();
    await eventually(async () => expect(await list.locator('li a').allTextContents()).toEqual(['Pump', 'Valve']));
    await page.getByRole('link', { name: 'Home 2 waiting for an acknowledgement' }).waitFor();
    await list.getByRole('button', { name: 'Acknowledge : Pump' }).press('Enter');
    await eventually(async () => expect(await list.locator('li a').allTextContents()).toEqual(['Valve']));
    await list.getByRole('link', { name: 'Valve' }).click();
    await page.waitForURL((url) => url.pathname === path);
    await list.getByRole('button', { name: 'Acknowledge : Valve' }).click();
    await list.waitFor({ state: 'detached' });
    await page.getByRole('link', { name: 'Home', exact: true }).waitFor();
    expect(await messageOf(page).getByText(`Acknowledged by ${owner.user.username}`).count()).toBe(2);
  });

  test('readers without a login see the state and cannot change it', async () => {
    const { owner, topic, path } = await escalatingTopic();
    const { id } = await publish(owner, topic);
    const page = await chromium.open(path);
    await isLive(page);
    await messageOf(page).getByText('Needs acknowledgement').waitFor();
    await made(owner.post(`/api/messages/${id}/ack`, {}));
    await messageOf(page).getByText(`Acknowledged by ${owner.user.username}`).waitFor();
    expect(await messageOf(page).getByRole('button').count()).toBe(0);
  });

  test('notes, labels and names of keys are text and do not change the text around them', async () => {
    const { owner, topic, path } = await escalatingTopic();
    const label = hostile.slice(0, 100);
    const byKey = await publish(owner, topic, { message: 'by key' });
    await publish(owner, topic, { message: 'by me', actions: [{ action: 'ack', label }] });
    const { key } = await made(owner.post('/api/keys', { name: hostile, scopes: ['publish'] }));
    await made(stack.caller({ 'X-API-Key': key }).post(`/api/messages/${byKey.id}/ack`, {}));
    const page = await openConsole(chromium, owner, path);
    await messageOf(page, 'by key').locator('.ack bdi').filter({ hasText: hostile }).waitFor();
    await messageOf(page, 'by me').locator('button bdi').filter({ hasText: label }).waitFor();
    await messageOf(page, 'by me').getByRole('button', { name: 'With a note' }).click();
    await messageOf(page, 'by me').getByRole('textbox').fill(hostile);
    await page.keyboard.press('Enter');
    await messageOf(page, 'by me').locator('.ack bdi').filter({ hasText: hostile }).waitFor();
    expect(await page.locator('.message img').count()).toBe(0);
    const isolated = (await page.evaluate(
      `[...document.querySelectorAll('.ack bdi')].map((one) => getComputedStyle(one).unicodeBidi)`,
    )) as string[];
    expect(new Set(isolated)).toEqual(new Set(['isolate']));
  });

  test('an acknowledgement that the server refused is explained, and the button stays', async () => {
    const { owner, topic, path } = await escalatingTopic();
    await publish(owner, topic);
    chromium.expectRefusals();
    const page = await openConsole(chromium, owner, path);
    await page.route(/\/ack$/, (route) => route.fulfill({ status: 503, json: { detail: 'The engine is down' } }));
    await messageOf(page).getByRole('button', acknowledging).click();
    await page.locator('.toast.bad').filter({ hasText: 'The engine is down' }).waitFor();
    await page.unroute(/\/ack$/);
    await messageOf(page).getByRole('button', acknowledging).click();
    await messageOf(page).getByText('Acknowledged by').waitFor();
  });

  test.each(looks)(
    'on %s everything about acknowledgements is accessible and not cut off',
    async (_, width, scheme) => {
      const { owner, topic, path } = await escalatingTopic();
      const done = await publish(owner, topic, { message: 'Done' });
      await publish(owner, topic, { message: 'w'.repeat(300), actions: [{ action: 'ack', label: 'l'.repeat(100) }] });
      for (let count = 0; count < 6; count++) await publish(owner, topic);
      await made(owner.post(`/api/messages/${done.id}/ack`, {}));
      const page = await openConsole(chromium, owner, path, { viewport: { width, height: 740 }, colorScheme: scheme });
      const list = page.getByRole('region', { name: 'Needs acknowledgement' });
      await list.getByRole('button', { name: 'Show 2 more' }).click();
      await messageOf(page).first().getByRole('button', { name: 'With a note' }).click();
      await list.getByRole('button', { name: 'With a note' }).first().click();
      expect(await findInaccessible(page)).toEqual([]);
      await expectNoScrollbar(page, width);
    },
  );
});
