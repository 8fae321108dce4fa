import { expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { describeUnlessMissing } from '../../tools/test/describe-unless-missing.ts';
import { missingForChromium, useChromium } from '../support/chromium.ts';
import { heading, typeLogin } from '../support/open-console.ts';
import { logIn, registerVerified } from '../support/registration.ts';
import { testStack } from '../support/stack.ts';

describeUnlessMissing('in Chromium', missingForChromium(), () => {
  const chromium = useChromium();

  const see = (page: Page, text: string) => page.getByText(text, { exact: true }).first().waitFor();
  const console = () => `${testStack().urls[0]}/console`;

  async function twoTabs(): Promise<[Page, Page]> {
    const first = await chromium.open('/console/login');
    const second = await first.context().newPage();
    await second.goto(console());
    await heading(second, 'Log in');
    return [first, second];
  }

  test('a login and a logout apply to all tabs', async () => {
    const person = await registerVerified();
    const [first, second] = await twoTabs();
    await typeLogin(first, person);
    await heading(second, 'Home');
    await see(second, person.username);
    await second.getByRole('button', { name: 'Log out', exact: true }).click();
    await heading(first, 'Log in');
  });

  test('two tabs refresh an expired login once', async () => {
    const person = await registerVerified();
    const { access, refresh } = await logIn(person);
    chromium.expectRefusals();
    const first = await chromium.open('/console/login');
    // Not open yet: it would take over the expired login immediately.
    const second = await first.context().newPage();
    const rejected = Promise.all(
      [first, second].map((page) => page.waitForResponse((response) => response.status() === 401)),
    );
    let refreshCount = 0;
    await first.context().route('**/auth/refresh', async (route) => {
      refreshCount += 1;
      // Both tabs know by then that the login has expired.
      await rejected;
      await route.continue();
    });
    const expired = { access_token: `${access}x`, refresh_token: refresh, user: null };
    await first.evaluate((login) => localStorage.setItem('tocsin.session', JSON.stringify(login)), expired);
    await Promise.all([first.goto(console()), second.goto(console())]);
    await Promise.all([first, second].map((page) => see(page, person.username)));
    expect(refreshCount).toBe(1);
  });

  test('a tab shows the account that logs in in another tab', async () => {
    const [one, other] = await Promise.all([registerVerified(), registerVerified()]);
    const [first, second] = await twoTabs();
    await typeLogin(first, one);
    await see(second, one.username);
    const { access, refresh } = await logIn(other);
    const login = { access_token: access, refresh_token: refresh, user: { username: other.username, id: 'other' } };
    await second.evaluate((stored) => localStorage.setItem('tocsin.session', JSON.stringify(stored)), login);
    await see(first, other.username);
    expect(await first.getByText(one.username, { exact: true }).count()).toBe(0);
  });
});
