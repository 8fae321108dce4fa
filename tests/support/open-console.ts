import type { BrowserContextOptions, Page } from 'playwright-core';
import type { ChromiumUse } from './chromium.ts';

/** Logs in to the console and opens a path of it. */
export async function openConsole(
  chromium: ChromiumUse,
  account: { readonly email: string; readonly password: string },
  path: string,
  options: BrowserContextOptions = {},
): Promise<Page> {
  const page = await chromium.open(`/console/login?next=${encodeURIComponent(path)}`, options);
  await page.getByLabel('Email').fill(account.email);
  await page.getByLabel('Password').fill(account.password);
  await page.keyboard.press('Enter');
  await page.waitForURL((url) => url.pathname === path);
  return page;
}
