import { expect, test } from '@jest/globals';
import { eventually } from '@tocsin/shared/testing/eventually.ts';
import { describeUnlessMissing } from '../../tools/test/describe-unless-missing.ts';
import { missingForChromium, useChromium } from '../support/chromium.ts';
import { findInaccessible } from '../support/page-quality.ts';
import { Client } from '../support/stack.ts';

/** The right edge of the widest element, also of those that the explorer cuts off. */
const rightMost = `Math.max(
  document.documentElement.scrollWidth,
  ...[...document.querySelector('openapi-explorer').shadowRoot.querySelectorAll('*')].map((one) =>
    Math.floor(one.getBoundingClientRect().right),
  ),
)`;

interface Document {
  readonly tags: readonly { readonly name: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, { readonly summary: string }>>>>;
}

test('the page is revalidated and loads scripts only from this server', async () => {
  const { status, headers, body } = await new Client().call('GET', '/docs');
  expect([status, headers.get('content-type'), headers.get('cache-control')]).toEqual([
    200,
    'text/html; charset=utf-8',
    'no-cache',
  ]);
  expect(headers.get('content-security-policy')).toMatch(/^default-src 'none'; script-src 'self';/);
  expect(headers.get('x-content-type-options')).toBe('nosniff');
  const [, script] = /<script type="module" crossorigin src="([^"]+)">/.exec(body)!;
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

  const looks = [
    ['a desk', 1_280, 'light'],
    ['a desk at night', 1_280, 'dark'],
    ['a phone', 360, 'light'],
    ['a phone at night', 360, 'dark'],
  ] as const;

  test.each(looks)('on %s the page is accessible and not cut off', async (_where, width, colorScheme) => {
    const page = await chromium.open('/docs', { viewport: { width, height: 740 }, colorScheme });
    const explorer = page.locator('openapi-explorer');
    const expectGood = async () => {
      expect(await findInaccessible(page)).toEqual([]);
      expect(await page.evaluate(rightMost)).toBeLessThanOrEqual(width);
    };
    await explorer.getByText('Publishing', { exact: true }).first().waitFor();
    await expectGood();
    await explorer.getByText('API keys', { exact: true }).first().click();
    await explorer.getByText('Create an API key', { exact: true }).first().click();
    await explorer.getByRole('button', { name: 'Execute' }).waitFor();
    await expectGood();
  });

  // axe-core does not report text that has the colour of its background.
  test.each(['Execute', '201'])('the text of the button %s is visible under the pointer', async (name) => {
    const page = await chromium.open('/docs');
    const explorer = page.locator('openapi-explorer');
    await explorer.getByText('API keys', { exact: true }).first().click();
    await explorer.getByText('Create an API key', { exact: true }).first().click();
    const button = explorer.getByRole('button', { name });
    await button.hover();
    const [text, background] = await button.evaluate((element) => {
      const { color, backgroundColor } = element.ownerDocument.defaultView!.getComputedStyle(element);
      return [color, backgroundColor];
    });
    expect(text).not.toBe(background);
  });

  test('on a narrow screen the accepted credentials of an operation do not cover its heading', async () => {
    const page = await chromium.open('/docs', { viewport: { width: 800, height: 740 } });
    const explorer = page.locator('openapi-explorer');
    await explorer.getByText('API keys', { exact: true }).first().click();
    await explorer.getByText('Create an API key', { exact: true }).first().click();
    const heading = await explorer.getByRole('heading', { name: 'Create an API key' }).boundingBox();
    const credentials = await explorer.locator('.security-info-button > div').boundingBox();
    expect(credentials!.y).toBeGreaterThanOrEqual(heading!.y + heading!.height);
    expect(credentials!.x + credentials!.width).toBeLessThanOrEqual(800);
  });

  test('the page has the theme that was chosen in the console, and leads back to it', async () => {
    const page = await chromium.open('/console/login', { colorScheme: 'light' });
    await page.evaluate(`localStorage.setItem('tocsin.theme', 'dark')`);
    const background = `getComputedStyle(document.querySelector('openapi-explorer')).backgroundColor`;
    await page.goto(new URL('/docs', page.url()).href);
    await eventually(async () => expect(await page.evaluate(background)).toBe('rgb(23, 24, 27)'));
    await page.getByRole('link', { name: 'Console' }).click();
    await page.getByRole('heading', { name: 'Log in' }).waitFor();
  });
});
