import { expect, test } from '@jest/globals';
import { eventually } from '@tocsin/shared/testing/eventually.ts';
import type { Page } from 'playwright-core';
import { describeUnlessMissing } from '../../tools/test/describe-unless-missing.ts';
import { missingForChromium, useChromium } from '../support/chromium.ts';
import { heading, openConsole } from '../support/open-console.ts';
import { logIn, refresh as tryRefresh, registerVerified } from '../support/registration.ts';
import { Client } from '../support/stack.ts';

describeUnlessMissing('in Chromium', missingForChromium(), () => {
  const chromium = useChromium();

  const logOut = async (page: Page) => {
    await page.getByRole('button', { name: 'Log out', exact: true }).click();
    await heading(page, 'Log in');
  };

  test('a logout cancels the requests in progress, which the server would reject', async () => {
    const page = await openConsole(chromium, await registerVerified(), '/console');
    await heading(page, 'Home');
    const ended = page.waitForResponse('**/auth/logout');
    let held = 0;
    await page.route('**/api/subscriptions', async (route) => {
      held += 1;
      await ended;
      await route.continue().catch(() => undefined); // it is cancelled
    });
    await page.getByRole('link', { name: 'Devices', exact: true }).click();
    await page.getByRole('link', { name: 'Home', exact: true }).click();
    await eventually(() => held > 0);
    const cancelled = page.waitForEvent('requestfailed', (request) => request.url().endsWith('/api/subscriptions'));
    await logOut(page);
    expect((await ended).status()).toBe(204);
    await cancelled;
  });

  test('a refresh in progress does not bring the login back', async () => {
    const person = await registerVerified();
    const { access, refresh } = await logIn(person);
    chromium.expectRefusals();
    const page = await openConsole(chromium, person, '/console');
    const asked = Promise.withResolvers<void>();
    const released = Promise.withResolvers<void>();
    await page.route('**/auth/refresh', async (route) => {
      asked.resolve();
      await released.promise;
      await route.continue().catch(() => undefined); // it is cancelled
    });
    const expired = { access_token: `${access}x`, refresh_token: refresh, user: null };
    await page.evaluate((login) => localStorage.setItem('tocsin.session', JSON.stringify(login)), expired);
    await page.reload();
    await asked.promise;
    const cancelled = page.waitForEvent('requestfailed', (request) => request.url().endsWith('/auth/refresh'));
    await logOut(page);
    await cancelled;
    released.resolve();
    await eventually(async () => expect((await tryRefresh(refresh)).status).toBe(401));
    expect(await page.evaluate(() => localStorage.getItem('tocsin.session'))).toBeNull();
  });

  test('a logout with an expired access token refreshes it to end the login', async () => {
    const person = await registerVerified();
    chromium.expectRefusals();
    const page = await openConsole(chromium, person, '/console');
    const stored = await page.evaluate(() => localStorage.getItem('tocsin.session'));
    const { access_token } = JSON.parse(stored!) as { access_token: string };
    await page.route('**/auth/logout', (route) => route.fulfill({ status: 401 }), { times: 1 });
    await logOut(page);
    await eventually(async () => expect((await new Client(access_token).call('GET', '/auth/me')).status).toBe(401));
  });
});
