import { expect, test } from '@jest/globals';
import { describeUnlessMissing } from '../../tools/test/describe-unless-missing.ts';
import { missingForChromium, useChromium } from '../support/chromium.ts';
import { Client } from '../support/stack.ts';

interface Document {
  readonly tags: readonly { readonly name: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, { readonly summary: string }>>>>;
}

test('the page is cacheable and loads scripts only from this server', async () => {
  const { status, headers, body } = await new Client().call('GET', '/docs');
  expect([status, headers.get('content-type'), headers.get('cache-control')]).toEqual([
    200,
    'text/html; charset=utf-8',
    'public, max-age=300',
  ]);
  expect(headers.get('content-security-policy')).toMatch(/^default-src 'none'; script-src 'self';/);
  expect(headers.get('x-content-type-options')).toBe('nosniff');
  const [, script] = /<script type="module" src="([^"]+)">/.exec(body)!;
  const bundle = await new Client().call('GET', script!);
  expect([bundle.status, bundle.headers.get('content-type')]).toEqual([200, 'text/javascript; charset=utf-8']);
  expect(bundle.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
});

describeUnlessMissing('in Chromium', missingForChromium(), () => {
  const chromium = useChromium();

  test('the page shows every tag and operation of /openapi.json', async () => {
    const { body } = (await new Client().call('GET', '/openapi.json')) as { body: Document };
    const page = await chromium.open('/docs');
    const explorer = page.locator('openapi-explorer');
    await explorer.getByText('Publishing', { exact: true }).first().waitFor();
    for (const { name } of body.tags) await explorer.getByText(name, { exact: true }).first().click();
    const shown = await explorer.evaluate((element) => element.shadowRoot!.textContent.replaceAll(/\s+/g, ' '));
    const summaries = Object.values(body.paths).flatMap((item) => Object.values(item).map(({ summary }) => summary));
    expect(summaries.length).toBeGreaterThan(80);
    expect(summaries.filter((summary) => !shown.includes(summary))).toEqual([]);
  });

  test('an operation shows its parameters and responses', async () => {
    const page = await chromium.open('/docs');
    const explorer = page.locator('openapi-explorer');
    await explorer.getByText('API keys', { exact: true }).first().click();
    await explorer.getByText('Create an API key', { exact: true }).first().click();
    await explorer.getByText('/api/keys').first().waitFor();
    await explorer.getByText('scopes').filter({ visible: true }).first().waitFor();
    await explorer.getByText('201').filter({ visible: true }).first().waitFor();
  });
});
