import type { BrowserContextOptions, Page } from 'playwright-core';
import type { ChromiumUse } from './chromium.ts';

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
