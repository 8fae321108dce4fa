import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from '@jest/globals';
import { eventually } from '@tocsin/shared/testing/eventually.ts';
import type { Page } from 'playwright-core';
import { findProgram } from '../../tools/engines/find-program.ts';
import { describeUnlessMissing } from '../../tools/test/describe-unless-missing.ts';
import { missingForChromium, useChromium } from '../support/chromium.ts';
import { see } from '../support/open-console.ts';
import { Client, createTopic, newAddress, testStack } from '../support/stack.ts';
import { useStack, type Person } from '../support/use-stack.ts';

const missing = [...missingForChromium(), ...(findProgram('curl') === undefined ? ['curl'] : [])];

/** Records per page of the console. */
const pageSize = 50;

describeUnlessMissing('in Chromium', missing, () => {
  const stack = useStack();
  const chromium = useChromium();

  const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });

  async function openLog(owner: Person, topic: string, query = ''): Promise<Page> {
    const path = `/console/topics/${topic}/log${query}`;
    const page = await chromium.open(`/console/login?next=${encodeURIComponent(path)}`);
    await page.getByLabel('Email').fill(owner.email);
    await page.getByLabel('Password').fill(owner.password);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Log', exact: true }).waitFor();
    await page.getByRole('region', { name: 'Consumers' }).waitFor();
    return page;
  }

  /** The offsets on the page; empty while it loads. */
  const shownOffsets = async (page: Page): Promise<number[]> =>
    (await page.locator('.record-offset').allTextContents()).map(Number);

  const showsOffsets = (page: Page, expected: readonly number[]) =>
    eventually(async () => expect(await shownOffsets(page)).toStrictEqual(expected));

  /** Publishes to a public topic; resolves with the offsets. A new address does not use up a budget of publishes. */
  async function publish(topic: string, count: number): Promise<number[]> {
    const offsets: number[] = [];
    while (offsets.length < count) {
      const client = new Client();
      const texts = Array.from({ length: Math.min(pageSize, count - offsets.length) }, (_, index) => `Text ${index}`);
      const answers = await Promise.all(texts.map((text) => client.call('POST', `/${topic}`, { text })));
      expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
      offsets.push(...answers.map(({ body }) => body.offset as number));
    }
    return offsets.sort((one, other) => one - other);
  }

  async function withRecords(count: number) {
    const owner = await stack.person({ tier: 'TEAM' });
    const { name } = await createTopic(owner);
    return { owner, name, offsets: await publish(name, count) };
  }

  test('opens from the topic with the newest records, and leads back to the first and forward to the last', async () => {
    const owner = await stack.person({ tier: 'TEAM' });
    const [{ name }, other] = [await createTopic(owner), await createTopic(owner)];
    // Records of another topic between the pages make the search for the previous page look further back.
    const offsets = await publish(name, pageSize + 7);
    await publish(other.name, 2 * pageSize);
    offsets.push(...(await publish(name, pageSize)));
    await publish(other.name, 2 * pageSize);
    const page = await openLog(owner, other.name);
    await page.goto(`${testStack().urls[0]}/console/topics/${name}`);
    await page.getByRole('link', { name: 'Log' }).click();
    await showsOffsets(page, offsets.slice(-pageSize));
    await see(page, 'End of the log');
    expect(await button(page, 'Next').isDisabled()).toBe(true);
    await button(page, 'Previous').click();
    await showsOffsets(page, offsets.slice(7, 7 + pageSize));
    await button(page, 'Previous').click();
    // The first page is full although only seven records come before the second one.
    await showsOffsets(page, offsets.slice(0, pageSize));
    await see(page, 'Beginning of the log');
    expect(await button(page, 'Previous').isDisabled()).toBe(true);
    await button(page, 'Next').click();
    await showsOffsets(page, offsets.slice(pageSize, 2 * pageSize));
    await button(page, 'Next').click();
    await showsOffsets(page, offsets.slice(2 * pageSize));
    await see(page, 'End of the log');
  });

  test('leads back page by page through records that other topics separate from the end', async () => {
    const owner = await stack.person({ tier: 'TEAM' });
    const [{ name }, other] = [await createTopic(owner), await createTopic(owner)];
    // More than a request of the search returns.
    const offsets = await publish(name, 5 * pageSize + 7);
    await publish(other.name, 2 * pageSize);
    const page = await openLog(owner, name);
    for (let end = offsets.length; end > pageSize; end -= pageSize) {
      await showsOffsets(page, offsets.slice(end - pageSize, end));
      await button(page, 'Previous').click();
    }
    await showsOffsets(page, offsets.slice(0, pageSize));
  });

  test('reads from an offset and from a local time, both of which the URL keeps', async () => {
    const { owner, name, offsets } = await withRecords(2);
    // The field has no milliseconds.
    await eventually(() => expect(Date.now() % 1_000).toBeLessThan(500));
    await eventually(() => expect(Date.now() % 1_000).toBeGreaterThan(500));
    const time = new Date(Math.ceil(Date.now() / 1_000) * 1_000);
    await eventually(() => expect(Date.now()).toBeGreaterThan(time.getTime()));
    const later = await publish(name, 2);
    const page = await openLog(owner, name);
    await showsOffsets(page, [...offsets, ...later]);
    await page.getByLabel('Read from').selectOption('offset');
    await page.getByLabel('Offset', { exact: true }).fill(String(offsets[1]));
    await page.keyboard.press('Enter');
    await showsOffsets(page, [offsets[1]!, ...later]);
    await page.getByLabel('Read from').selectOption('time');
    const local = new Date(time.getTime() - time.getTimezoneOffset() * 60_000).toISOString().slice(0, 19);
    await page.getByLabel('Local time').fill(local);
    await button(page, 'Read').click();
    await showsOffsets(page, later);
    await page.reload();
    await showsOffsets(page, later);
    // Browsers leave out seconds that are 0.
    const shown = await page.getByLabel('Local time').inputValue();
    expect(`${shown}:00`.slice(0, local.length)).toBe(local);
  });

  test('shows what was edited and deleted as such, without the deleted content', async () => {
    const { owner, name } = await withRecords(0);
    const ids = [];
    for (const text of ['kept', 'wrong', 'secret']) ids.push((await owner.publish(name, text)).body);
    await owner.patch(`/api/${name}/messages/${ids[1].id}`, { message: 'right' });
    await owner.delete(`/api/${name}/messages/${ids[2].id}`);
    const page = await openLog(owner, name);
    const record = (index: number) => page.locator('.record').nth(index);
    await record(4).waitFor();
    expect(await record(0).locator('.badge').count()).toBe(0);
    expect(await record(1).textContent()).toMatch(/Edited.*right.*All its records show the current text/);
    expect(await record(2).textContent()).toMatch(
      /Deleted.*The message was deleted on .* Its content is not in the log/,
    );
    expect(await record(3).textContent()).toMatch(new RegExp(`Edit of message ${ids[1].offset}.*right`));
    expect(await record(4).textContent()).toContain(`Deletion of message ${ids[2].offset}`);
    expect(await page.locator('main').textContent()).not.toMatch(/wrong|secret/);
    await record(4)
      .getByRole('link', { name: `message ${ids[2].offset}` })
      .click();
    const { body } = await owner.get(`/api/topics/${name}/log?from_offset=${ids[2].offset}`);
    await showsOffsets(
      page,
      body.records.map(({ offset }: { offset: number }) => offset),
    );
  });

  test('a long text is shown in part, and the JSON of a record on request', async () => {
    const { owner, name } = await withRecords(0);
    await owner.publish(name, 'w'.repeat(3_000));
    const page = await openLog(owner, name);
    const text = page.locator('.record .text');
    await text.waitFor();
    expect((await text.textContent())!.length).toBeLessThan(500);
    await button(page, 'Show all 3,000 characters').click();
    await eventually(async () => expect(await text.textContent()).toHaveLength(3_000));
    await page.getByRole('button', { name: 'JSON' }).click();
    expect(JSON.parse((await page.locator('.record-json').textContent())!)).toMatchObject({
      type: 'message',
      message: { title: null, priority: 3 },
    });
  });

  test.each([
    ['?from_offset=abc', '“abc” is not an offset. An offset is a whole number such as 0 or 1500.'],
    ['?from_offset=-1', '“-1” is not an offset.'],
    ['?from_offset=1e3', '“1e3” is not an offset.'],
    ['?from_time=soon', '“soon” is not a time.'],
    ['?from_offset=900000000000', 'Offset 900000000000 is beyond the end of the log'],
  ])('%s is explained, and the form leads to the records', async (query, text) => {
    const { owner, name, offsets } = await withRecords(1);
    const page = await openLog(owner, name, query);
    await see(page, text);
    await page.getByLabel('Read from').selectOption('newest');
    await button(page, 'Read').click();
    await showsOffsets(page, offsets);
  });

  test('an offset beyond the end leads back to the newest records', async () => {
    const { owner, name, offsets } = await withRecords(3);
    const page = await openLog(owner, name, '?from_offset=900000000000');
    await see(page, 'beyond the end of the log');
    await button(page, 'Previous').click();
    await showsOffsets(page, offsets);
  });

  test('an empty log says so, and shows the first record on request', async () => {
    const { owner, name } = await withRecords(0);
    const page = await openLog(owner, name);
    await see(page, 'The log is empty');
    const offsets = await publish(name, 1);
    await button(page, 'Check for new records').click();
    await showsOffsets(page, offsets);
  });

  test('a topic that is deleted while its log is open is reported with a way out', async () => {
    const { owner, name } = await withRecords(1);
    chromium.expectRefusals();
    const page = await openLog(owner, name);
    await see(page, 'End of the log');
    const { body } = await owner.get(`/api/topics/${name}`);
    await owner.delete(`/api/topics/${body.id}`);
    await eventually(async () => expect((await owner.get(`/api/topics/${name}`)).status).toBe(404));
    await button(page, 'Check for new records').click();
    await page.getByRole('alert').filter({ hasText: 'Topic not found' }).waitFor();
    await page.locator('main').getByRole('link', { name: 'Home' }).waitFor();
    await page.reload();
    await page.getByRole('alert').filter({ hasText: 'Topic not found' }).waitFor();
  });

  test('the log of a public topic is readable without a login, and consumers require one', async () => {
    const { name, offsets } = await withRecords(1);
    const page = await chromium.open(`/console/topics/${name}/log`);
    await showsOffsets(page, offsets);
    await page.getByRole('link', { name: 'Log in to create one' }).waitFor();
  });

  test('a consumer is created, moved to an offset and a time, and deleted', async () => {
    const { owner, name, offsets } = await withRecords(2);
    const consumer = async () => (await owner.get(`/api/topics/${name}/consumers/archive`)).body;
    const page = await openLog(owner, name);
    await see(page, 'You have no consumers of this topic.');
    await button(page, 'Create a consumer').click();
    await page.getByLabel('Name', { exact: true }).fill('archive');
    await page.keyboard.press('Enter');
    await see(page, 'archive continues at offset 0.');
    await see(page, `offset 0 · lag ${(await consumer()).lag.toLocaleString('en-GB')}`);
    await button(page, 'Set the offset of archive').click();
    await page.getByLabel('Offset', { exact: true }).fill(String(offsets[1]));
    await button(page, 'Set the offset').click();
    await see(page, `offset ${offsets[1]} · lag 1`);
    await button(page, 'Set the offset of archive').click();
    await page.getByLabel('Continue at').selectOption('time');
    await page.getByLabel('Local time').fill('2999-01-01T00:00:00');
    await button(page, 'Set the offset').click();
    await see(page, 'no lag');
    expect((await consumer()).offset).toBeGreaterThan(offsets[1]!);
    await button(page, 'Delete the consumer archive').click();
    await button(page, 'Delete the consumer').click();
    await see(page, 'You have no consumers of this topic.');
    expect((await owner.get(`/api/topics/${name}/consumers`)).body).toEqual([]);
  });

  test('a new consumer cannot take the name of another or an invalid one', async () => {
    const { owner, name, offsets } = await withRecords(1);
    await owner.put(`/api/topics/${name}/consumers/archive`, { offset: offsets[0] });
    const page = await openLog(owner, name);
    await button(page, 'Create a consumer').click();
    for (const [entered, error] of [
      ['Archive', 'You have a consumer Archive.'],
      ['a/b', 'Enter 1 to 64 letters'],
    ] as const) {
      await page.getByLabel('Name', { exact: true }).fill(entered);
      await button(page, 'Create consumer').click();
      await see(page, error);
    }
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    expect((await owner.get(`/api/topics/${name}/consumers`)).body).toMatchObject([
      { name: 'archive', offset: offsets[0] },
    ]);
  });

  test("a consumer's lines read its records and store an offset", async () => {
    const { owner, name, offsets } = await withRecords(3);
    await owner.put(`/api/topics/${name}/consumers/archive`, { offset: offsets[1] });
    const { key } = (await owner.post('/api/keys', { name: 'k', scopes: ['subscribe'] })).body;
    const page = await openLog(owner, name);
    await page.getByText('Lines for the shell').click();
    const lines = await page.locator('.consumer-lines .copy-line code').allTextContents();
    const run = async (line: string) => {
      const command = line.replace('curl ', `curl -sS -m 20 -H 'X-Forwarded-For: ${newAddress()}' `);
      const env = { ...process.env, TOCSIN_API_KEY: key as string };
      return JSON.parse((await promisify(execFile)('sh', ['-c', command], { env })).stdout) as unknown;
    };
    expect(lines).toHaveLength(3);
    expect(await run(lines[0]!)).toMatchObject({ records: [{ offset: offsets[1] }, { offset: offsets[2] }] });
    const stored = lines[2]!.replace(`"offset": ${offsets[1]}`, `"offset": ${offsets[2]! + 1}`);
    expect(await run(stored)).toMatchObject({ name: 'archive', offset: offsets[2]! + 1, lag: 0 });
    await button(page, 'Refresh').click();
    await see(page, 'no lag');
  });
});
