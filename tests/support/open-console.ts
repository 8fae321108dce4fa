import type { BrowserContextOptions, Page } from 'playwright-core';
import type { ChromiumUse } from './chromium.ts';
import { testStack } from './stack.ts';

interface Login {
  readonly email: string;
  readonly password: string;
}

/** Submits the login page. */
export async function typeLogin(page: Page, { email, password }: Login): Promise<void> {
  await page.getByLabel('Email').fill(email);
  await page.getByLabel('Password').fill(password);
  await page.keyboard.press('Enter');
}

/** Logs in to the console and opens a path of it. */
export async function openConsole(
  chromium: ChromiumUse,
  account: Login,
  path: string,
  options: BrowserContextOptions = {},
): Promise<Page> {
  const page = await chromium.open(`/console/login?next=${encodeURIComponent(path)}`, options);
  await typeLogin(page, account);
  await page.waitForURL((url) => url.pathname === path);
  return page;
}

export const click = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).click();
export const see = (page: Page, text: string | RegExp) => page.getByText(text).first().waitFor();
export const heading = (page: Page, name: string) =>
  page.getByRole('heading', { level: 1, name, exact: true }).waitFor();
/** Resolves when the stream of the page is open. */
export const isLive = (page: Page) =>
  page
    .getByRole('status')
    .filter({ hasText: /^live$/ })
    .waitFor();
/** The texts of the messages that the page shows, in its order. */
export const texts = (page: Page) => page.locator('.message .text').allTextContents();
/** The link on the first node of this stack: emails cannot contain a port that the system assigns at start. */
export const here = ({ pathname, search, hash }: URL) => testStack().urls[0]! + pathname + search + hash;
