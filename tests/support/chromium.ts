import { afterAll, afterEach, beforeAll, expect } from '@jest/globals';
import { chromium, type Browser, type BrowserContextOptions, type ConsoleMessage, type Page } from 'playwright-core';
import { findChromium } from '../../tools/screenshots/find-chromium.ts';
import { newAddress, testStack } from './stack.ts';

/** The programs that this machine lacks to render pages; empty if complete. */
export const missingForChromium = (): string[] => (findChromium() === undefined ? ['chromium'] : []);

export interface ChromiumUse {
  /** Opens a path of the server in a new session with its own address. */
  open(path: string, options?: BrowserContextOptions): Promise<Page>;
  /** Error responses that a test expects: the browser logs each to its console. */
  expectRefusals(): void;
}

/** The response for a topic without an escalation policy, which the browser logs as an error. */
const isNoPolicy = (line: ConsoleMessage): boolean =>
  line.text().includes('status of 404') && line.location().url.endsWith('/escalation');

/**
 * Chromium for the tests of a file. A test fails if a page logs an error, throws one, or sends a request to another
 * server. `baseUrl` is by default that of the shared stack's first node; `others` are servers that pages may use.
 */
export function useChromium(
  baseUrl: () => string = () => testStack().urls[0]!,
  others: readonly string[] = [],
): ChromiumUse {
  let browser: Browser;
  let faults: string[] = [];
  let mayRefuse = false;
  beforeAll(async () => {
    browser = await chromium.launch({ executablePath: findChromium()! });
  });
  afterEach(async () => {
    await Promise.all(browser.contexts().map((context) => context.close()));
    const unexpected = faults.filter((fault) => !(mayRefuse && fault.includes('Failed to load resource')));
    [faults, mayRefuse] = [[], false];
    expect(unexpected).toEqual([]);
  });
  afterAll(() => browser?.close());
  return {
    async open(path, options = {}) {
      const base = baseUrl();
      const context = await browser.newContext({
        locale: 'en-GB',
        extraHTTPHeaders: { 'X-Forwarded-For': newAddress() },
        ...options,
      });
      const page = await context.newPage();
      page.on('console', (line) => {
        if (line.type() === 'error' && !isNoPolicy(line)) faults.push(`${line.text()} ${line.location().url}`);
      });
      page.on('pageerror', (error) => faults.push(String(error)));
      page.on('dialog', (dialog) => {
        faults.push(`a dialog: ${dialog.message()}`);
        void dialog.dismiss();
      });
      page.on('request', (request) => {
        if (![base, ...others].some((one) => request.url().startsWith(`${one}/`)))
          faults.push(`asks another server: ${request.url()}`);
      });
      await page.goto(base + path);
      return page;
    },
    expectRefusals() {
      mayRefuse = true;
    },
  };
}
