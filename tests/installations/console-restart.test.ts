import { expect, test } from '@jest/globals';
import { describeUnlessMissing } from '../../tools/test/describe-unless-missing.ts';
import { missingForChromium, useChromium } from '../support/chromium.ts';
import { createAccount, createTopic } from '../support/stack.ts';
import { useOwnStack } from '../support/use-own-stack.ts';

const { stack, store } = await useOwnStack({ RATE_LIMITS: 'off' }, 'nodes');

describeUnlessMissing('in Chromium', missingForChromium(), () => {
  const chromium = useChromium(() => stack.urls[0]!);

  test('an open topic shows the loss of the server and continues with every message after its restart', async () => {
    const owner = await createAccount(store, { tier: 'TEAM', urls: stack.urls });
    const { name } = await createTopic(owner);
    const publish = (text: string) => owner.client.call('POST', `/${name}`, { text });
    const server = stack.server(stack.engine === 'embedded' ? 'tocsin' : 'api1');
    await publish('one');
    chromium.expectRefusals();
    const page = await chromium.open(`/console/topics/${name}`);
    const state = (text: RegExp) => page.getByRole('status').filter({ hasText: text }).waitFor({ timeout: 60_000 });
    await state(/^live$/);
    await server.kill();
    await state(/^reconnecting …$/);
    await server.start();
    await publish('two');
    await state(/^live$/);
    await publish('three');
    await page.locator('.message .text').filter({ hasText: 'three' }).waitFor();
    expect(await page.locator('.message .text').allTextContents()).toEqual(['three', 'two', 'one']);
  }, 120_000);
});
