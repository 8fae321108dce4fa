import { afterAll, expect, test } from '@jest/globals';
import { eventually } from '@tocsin/shared/testing/eventually.ts';
import { startOpenIdProvider } from '@tocsin/simulators/openid-provider.ts';
import { startSmtpSimulator } from '@tocsin/simulators/smtp-simulator.ts';
import type { Page } from 'playwright-core';
import { describeUnlessMissing } from '../../tools/test/describe-unless-missing.ts';
import { missingForChromium, useChromium } from '../support/chromium.ts';
import { openConsole } from '../support/open-console.ts';
import { newRegistration } from '../support/registration.ts';
import { createAccount, made } from '../support/stack.ts';
import { useOwnStack } from '../support/use-own-stack.ts';

const [google, smtp] = await Promise.all([startOpenIdProvider(), startSmtpSimulator()]);
const [configured, bare] = await Promise.all([
  useOwnStack({
    GOOGLE_ISSUER: google.issuer,
    GOOGLE_CLIENT_ID: google.clientId,
    GOOGLE_CLIENT_SECRET: google.clientSecret,
    SMTP_URL: smtp.url,
    TRUST_PROXY: '1',
  }),
  useOwnStack({ TRUST_PROXY: '1' }),
]);
google.register(`${configured.stack.urls[0]}/auth/google/callback`);
afterAll(() => Promise.all([google.close(), smtp.close()]));

async function register(page: Page, email: string): Promise<void> {
  const { username, password } = newRegistration();
  await page.getByLabel('Email').fill(email);
  await page.getByLabel('Username').fill(username);
  await page.getByLabel('Password').fill(password);
  await page.getByLabel(/I accept the terms/).check();
  await page.getByRole('button', { name: 'Create account', exact: true }).click();
}

async function requestLink(page: Page, email: string): Promise<void> {
  await page.getByLabel('Email').fill(email);
  await page.getByRole('button', { name: 'Request link', exact: true }).click();
}

const see = (page: Page, text: string) => page.getByText(text).waitFor();
const googleButton = (page: Page) => page.getByRole('button', { name: 'Log in with Google' });
const loginHeading = (page: Page) => page.getByRole('heading', { name: 'Log in' }).waitFor();

describeUnlessMissing('the console of a server with Google login and a mail server', missingForChromium(), () => {
  const base = configured.stack.urls[0]!;
  const chromium = useChromium(() => base, [google.issuer]);

  /** Logs in a new person by the button. Returns the page and the address of the app that the browser was sent to. */
  async function logInWithGoogle(): Promise<{ page: Page; callback: string }> {
    const { email, username: subject } = newRegistration();
    google.people.set(subject, { email, email_verified: true });
    google.setPerson(subject);
    const page = await chromium.open('/console/login');
    let callback = '';
    page.on('response', (response) => {
      if (response.url().startsWith(`${base}/auth/google/callback?`)) callback = response.headers()['location']!;
    });
    await googleButton(page).click();
    await page.getByRole('heading', { level: 1, name: 'Home' }).waitFor();
    await see(page, subject);
    return { page, callback };
  }
  const sessionOf = (page: Page) => page.evaluate(() => localStorage.getItem('tocsin.session'));
  const notBegun = 'This login did not begin in this tab';

  test('a Google login begins with the button and ends in the same tab, once', async () => {
    const { page, callback } = await logInWithGoogle();
    expect(callback).toMatch(/^[^#]+\/auth\/callback#access_token=[^&]+&refresh_token=[^&]+&app_state=[\w-]+$/);
    expect(new URL(page.url()).hash).toBe('');
    await page.evaluate(() => localStorage.removeItem('tocsin.session'));
    await page.goto(callback);
    await see(page, notBegun);
    expect(await sessionOf(page)).toBeNull();
  });

  test('another tab does not take over a Google login', async () => {
    const { page, callback } = await logInWithGoogle();
    await page.evaluate(() => localStorage.removeItem('tocsin.session'));
    const tab = await page.context().newPage();
    await tab.goto(callback);
    await see(tab, notBegun);
    expect([await sessionOf(tab), new URL(tab.url()).hash]).toEqual([null, '']);
  });

  test('shows the Google login and announces emails that are sent', async () => {
    const login = await chromium.open('/console/login');
    await loginHeading(login);
    expect(await googleButton(login).count()).toBe(1);
    const { email } = newRegistration();
    const page = await chromium.open('/console/register');
    await register(page, email);
    await see(page, `Account created. Follow the link in the email to ${email}, then log in.`);
    const forgot = await chromium.open('/console/forgot-password');
    await see(forgot, 'You receive an email with a link');
    await requestLink(forgot, email);
    await see(forgot, 'it receives an email.');
  });

  test('an invite to a team announces the email, which contains a link to the page that accepts it', async () => {
    const { store, stack } = configured;
    const owner = await createAccount(store, { tier: 'TEAM', urls: stack.urls });
    const json = { name: `crew-${newRegistration().username.slice(4)}`, display_name: 'Crew' };
    const { id } = await made(owner.client.call('POST', '/api/teams', { json }));
    const page = await openConsole(chromium, owner, `/console/teams/${id}`);
    await see(page, 'The invited person receives an email with a link');
    const { email } = newRegistration();
    await page.getByText('Invite someone …').click();
    await page.getByLabel('Email').fill(email);
    await page.getByRole('button', { name: 'Send invite' }).click();
    await see(page, 'is invited and receives an email with a link.');
    const raw = await eventually(() => {
      const mail = smtp.mails.find(({ to }) => to.includes(email));
      if (mail === undefined) throw new Error(`no email to ${email} yet`);
      return mail.raw;
    });
    expect(raw).toContain('/auth/accept-invite#token');
  });
});

describeUnlessMissing('the console of a server without Google login and mail server', missingForChromium(), () => {
  const chromium = useChromium(() => bare.stack.urls[0]!);

  test('hides the Google login and states that no emails are sent', async () => {
    const login = await chromium.open('/console/login');
    await loginHeading(login);
    expect(await googleButton(login).count()).toBe(0);
    const { email } = newRegistration();
    const page = await chromium.open('/console/register');
    await register(page, email);
    await see(page, `This server does not send emails. Ask its operator to verify ${email}, then log in.`);
    await see(page, `npx tocsin user verify ${email}`);
    // The line scrolls within the card.
    const [card, field] = [page.locator('.card'), page.getByLabel('Email')];
    expect((await field.boundingBox())!.width).toBeLessThan((await card.boundingBox())!.width);
    const forgot = await chromium.open('/console/forgot-password');
    await see(forgot, 'This server does not send emails.');
    await requestLink(forgot, email);
    await see(forgot, 'Ask the operator of this server for it.');
  });

  test('states on the page of the operator that ADMIN_TOKEN is not set', async () => {
    chromium.expectRefusals();
    const page = await chromium.open('/admin');
    await page.getByLabel('Token of the operator').fill('any token');
    await page.keyboard.press('Enter');
    await see(page, 'set ADMIN_TOKEN in its configuration');
  });
});
