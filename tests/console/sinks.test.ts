import { expect, test } from '@jest/globals';
import { eventually } from '@tocsin/shared/testing/eventually.ts';
import { Webhook } from 'standardwebhooks';
import { describeUnlessMissing } from '../../tools/test/describe-unless-missing.ts';
import { missingForChromium, useChromium } from '../support/chromium.ts';
import { openConsole } from '../support/open-console.ts';
import { expectNoScrollbar, findInaccessible, looks } from '../support/page-quality.ts';
import { createTopic, made } from '../support/stack.ts';
import { useReceivers } from '../support/use-receiver.ts';
import { useStack, type Person } from '../support/use-stack.ts';

describeUnlessMissing('in Chromium', missingForChromium(), () => {
  const stack = useStack();
  const chromium = useChromium();
  const receivers = useReceivers();

  const timeoutMs = 25_000;
  const pathOf = ({ id }: { id: string }) => `/api/topics/${id}/sinks`;

  async function openSinks(owner: Person, topic: { name: string }, options = {}) {
    const page = await openConsole(chromium, owner, `/console/topics/${topic.name}/settings`, options);
    return { page, section: page.getByRole('region', { name: 'Sinks' }) };
  }

  test('a new sink shows its secret once, and delivers what its filter selects', async () => {
    const owner = await stack.person({ tier: 'TEAM' });
    const topic = await createTopic(owner);
    const receiver = await receivers.start();
    const { page, section } = await openSinks(owner, topic);
    await section.getByText('The topic has no sinks.').waitFor();
    await section.getByText('Create a sink …').click();
    await section.getByLabel('Name').fill('tickets');
    await section.getByLabel('URL').fill(`${receiver.url}/hook`);
    await section.getByLabel('Priority').selectOption('High and highest');
    await section.getByLabel('Tags').fill('db, disk');
    await section.getByLabel('Text').fill('full');
    await section.getByRole('button', { name: 'Create sink' }).click();
    const secret = (await section.locator('.new-secret code').first().textContent())!;
    const only = 'only priority 4 or higher, tagged db or disk, containing “full”';
    await section.getByText(`0 delivered · nothing waiting · ${only}`).waitFor();
    await made(owner.post('/', { topic: topic.name, message: 'The disk is full', priority: 5, tags: ['disk'] }));
    await eventually(() => expect(receiver.requests.length).toBe(1), { timeoutMs });
    const { body, headers, event } = receiver.requests[0]!;
    new Webhook(secret).verify(body, headers as Record<string, string>);
    expect(event.data.message.message).toBe('The disk is full');
    await eventually(
      async () => {
        await section.getByRole('button', { name: 'Refresh' }).click();
        expect(await section.getByText('1 delivered').count()).toBe(1);
      },
      { timeoutMs },
    );
    await page.reload();
    await section.getByText('tickets').first().waitFor();
    expect(await section.locator('.new-secret').count()).toBe(0);
  });

  test('a refused URL shows the error of the server at its field', async () => {
    const owner = await stack.person({ tier: 'TEAM' });
    const topic = await createTopic(owner);
    chromium.expectRefusals();
    const { section } = await openSinks(owner, topic);
    await section.getByText('Create a sink …').click();
    await section.getByLabel('Name').fill('inside');
    await section.getByLabel('URL').fill('https://192.168.0.1/hook');
    await section.getByRole('button', { name: 'Create sink' }).click();
    await section.getByText('Must not have a private or reserved address.').waitFor();
  });

  test('a test shows how the receiver responded', async () => {
    const owner = await stack.person({ tier: 'TEAM' });
    const topic = await createTopic(owner);
    const receiver = await receivers.start((response) => void response.writeHead(418).end());
    await made(owner.post(pathOf(topic), { name: 'tickets', kind: 'webhook', url: receiver.url }));
    const { page, section } = await openSinks(owner, topic);
    await section.getByRole('button', { name: 'Send a test : tickets' }).click();
    const dialog = page.getByRole('dialog', { name: 'Deliveries of tickets' });
    await dialog.getByText('HTTP 418').waitFor({ timeout: timeoutMs });
    expect(await dialog.getByRole('listitem').filter({ hasText: 'Test' }).count()).toBe(1);
  });

  test('a sink is paused, sent back to the first message, resumed and deleted', async () => {
    const owner = await stack.person({ tier: 'TEAM' });
    const topic = await createTopic(owner);
    await made(owner.publish(topic.name, 'Nightly backup finished'));
    const receiver = await receivers.start();
    const sink = await made(owner.post(pathOf(topic), { name: 'tickets', kind: 'slack', url: receiver.url }));
    const { page, section } = await openSinks(owner, topic);
    const press = (name: string) => section.getByRole('button', { name: `${name} : tickets` }).click();
    await press('Pause');
    await section.getByText('Paused', { exact: true }).waitFor();
    await press('Set offset');
    await page.getByLabel('Continue at').selectOption('The first stored message');
    await page.getByRole('dialog').getByRole('button', { name: 'Set the offset' }).click();
    await section.getByText('0 delivered · 1 waiting').waitFor();
    expect(receiver.requests).toEqual([]);
    await press('Resume');
    await section.getByText('Active', { exact: true }).waitFor();
    await eventually(() => expect(receiver.requests.length).toBe(1), { timeoutMs });
    await press('Delete');
    await section.getByText('The topic has no sinks.').waitFor();
    await eventually(async () => expect((await owner.get(`${pathOf(topic)}/${sink.id}`)).status).toBe(404), {
      timeoutMs,
    });
  });

  test.each(looks)('on %s sinks and their deliveries are accessible and not cut off', async (_, width, scheme) => {
    const owner = await stack.person({ tier: 'TEAM' });
    const topic = await createTopic(owner);
    const receiver = await receivers.start((response) => void response.writeHead(503).end());
    const url = `${receiver.url}/${'hook'.repeat(40)}`;
    await made(owner.post(pathOf(topic), { name: 'tickets', kind: 'webhook', url }));
    await made(owner.publish(topic.name));
    await eventually(async () => expect((await owner.get(pathOf(topic))).body[0].failing_since).not.toBeNull(), {
      timeoutMs,
    });
    const { page, section } = await openSinks(owner, topic, { viewport: { width, height: 740 }, colorScheme: scheme });
    await section.getByText('First failed').waitFor();
    await section.getByText('Create a sink …').click();
    expect(await findInaccessible(page)).toEqual([]);
    await expectNoScrollbar(page, width);
    await section.getByRole('button', { name: 'Deliveries : tickets' }).click();
    await page.getByRole('dialog').getByText('HTTP 503').waitFor();
    expect(await findInaccessible(page)).toEqual([]);
    await expectNoScrollbar(page, width);
  });
});
