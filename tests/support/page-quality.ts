import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { expect } from '@jest/globals';
import { eventually } from '@tocsin/shared/testing/eventually.ts';
import type { Page } from 'playwright-core';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** The devices and colour schemes in which pages are checked. */
export const looks = [
  ['a desk', 1_280, 'light'],
  ['a phone', 360, 'dark'],
] as const;

interface Violation {
  readonly id: string;
  readonly impact: string;
  readonly nodes: readonly { readonly html: string; readonly failureSummary: string }[];
}

/** The serious and critical findings of axe-core on the page. */
export async function findInaccessible(page: Page): Promise<unknown[]> {
  // Animations change colours for a moment.
  await page.emulateMedia({ reducedMotion: 'reduce' });
  // Evaluated by the debugger, so that the Content-Security-Policy stays as it is.
  await page.evaluate(axe);
  const violations = (await page.evaluate('axe.run().then(({ violations }) => violations)')) as Violation[];
  return violations
    .filter(({ impact }) => ['serious', 'critical'].includes(impact))
    .map(({ id, nodes }) => ({ id, nodes: nodes.map(({ html, failureSummary }) => [html, failureSummary]) }));
}

export async function expectNoScrollbar(page: Page, width: number): Promise<void> {
  expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(width);
}

/** Resolves when the page shows a title and nothing that is still loading. */
export async function ready(page: Page): Promise<void> {
  await page.locator('main h1').first().waitFor();
  await eventually(async () => expect(await page.locator('.skeleton').count()).toBe(0));
}

/** A failed request as a proxy answers it, with a page that says too much. */
export const failure = { status: 500, contentType: 'text/html', body: '<h1>Oops at /srv/app.ts:12</h1>' };
