import type { Page } from 'playwright-core';
import type { ChromiumUse } from './chromium.ts';

/** Opens a path of the console with a login, in a new session. */
export async function openAs(
  chromium: ChromiumUse,
  account: { readonly email: string; readonly password: string },
  path: string,
): Promise<Page> {
  const page = await chromium.open(`/console/login?next=${encodeURIComponent(path)}`);
  await page.getByLabel('Email').fill(account.email);
  await page.getByLabel('Password').fill(account.password);
  await page.keyboard.press('Enter');
  await page.waitForURL((url) => url.pathname === path);
  return page;
}
