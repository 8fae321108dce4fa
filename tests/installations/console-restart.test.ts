import { randomUUID } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { eventually } from '@tocsin/shared/testing/eventually.ts';
import type { Page } from 'playwright-core';
import { describeUnlessMissing } from '../../tools/test/describe-unless-missing.ts';
import { missingForChromium, useChromium } from '../support/chromium.ts';
import { openConsole, texts } from '../support/open-console.ts';
import { createAccount, createTopic } from '../support/stack.ts';
import { useOwnStack } from '../support/use-own-stack.ts';

const { stack, store } = await useOwnStack({ RATE_LIMITS: 'off', TRUST_PROXY: '1' }, 'nodes');
/** The server of the browsers. On a cluster, the last node takes the publishes and stays up. */
const server = stack.server(stack.engine === 'embedded' ? 'tocsin' : 'api1');
const publishNode = stack.urls.length - 1;
const patience = { timeoutMs: 60_000 };

describeUnlessMissing('in Chromium', missingForChromium(), () => {
  const chromium = useChromium(() => stack.urls[0]!);
  const state = (page: Page, text: RegExp) =>
    page.getByRole('status').filter({ hasText: text }).waitFor({ timeout: patience.timeoutMs });

  test('two browsers show each message once and in order, across a SIGKILL of their server', async () => {
    const owner = await createAccount(store, { tier: 'TEAM', urls: stack.urls });
    const { name } = await createTopic(owner);
    /** Resolves when the server acknowledged the message, which takes retries while it is down. */
    const publish = (text: string) => {
      const headers = { 'Idempotency-Key': randomUUID() };
      return eventually(async () => {
        const { status } = await owner.client.call('POST', `/${name}`, { text, headers, node: publishNode });
        expect(status).toBe(200);
      }, patience);
    };
    const path = `/console/topics/${name}`;
    chromium.expectRefusals();
    await publish('stored before');
    const browsers = [await openConsole(chromium, owner, path), await chromium.open(path)];
    const all = (act: (page: Page) => Promise<unknown>) => Promise.all(browsers.map(act));
    await all((page) => state(page, /^live$/));
    await publish('live before');
    await all((page) => eventually(async () => expect(await texts(page)).toContain('live before')));

    await publish('acknowledged last');
    await server.kill();
    const meanwhile = publish('while it is down');
    await all((page) => state(page, /^reconnecting …$/));
    if (stack.engine === 'cluster') await meanwhile;
    await server.start();
    await meanwhile;

    await all((page) => state(page, /^live$/));
    await publish('live after');
    const expected = ['live after', 'while it is down', 'acknowledged last', 'live before', 'stored before'];
    await all((page) => eventually(async () => expect(await texts(page)).toEqual(expected), patience));
  }, 180_000);
});
