import { expect, test } from '@jest/globals';
import { eventually } from '@tocsin/shared/testing/eventually.ts';
import { describeUnlessMissing } from '../../tools/test/describe-unless-missing.ts';
import { missingForChromium, useChromium } from '../support/chromium.ts';
import { mailedLink } from '../support/mailbox.ts';
import { click, heading, here, isLive, openConsole, see, texts, typeLogin } from '../support/open-console.ts';
import { logIn, newRegistration, register, registerVerified, tryLogIn } from '../support/registration.ts';
import { createTopic, newTopicName, testStack } from '../support/stack.ts';
import { useStack } from '../support/use-stack.ts';

describeUnlessMissing('in Chromium', missingForChromium(), () => {
  const stack = useStack();
  const chromium = useChromium();

  test('URLs contain no secrets: streams use a session', async () => {
    const owner = await stack.person();
    const topic = await createTopic(owner);
    const addresses: string[] = [];
    const page = await chromium.open('/console/login');
    page.on('request', (request) => addresses.push(request.url()));
    await typeLogin(page, owner);
    await heading(page, 'Home');
    await page.locator('main').getByRole('link', { name: topic.name }).click();
    await isLive(page);
    const login = JSON.parse((await page.evaluate(() => localStorage.getItem('tocsin.session')))!) as {
      access_token: string;
    };
    expect(addresses.some((address) => address.includes('/sse?session='))).toBe(true);
    expect(addresses.filter((address) => address.includes(login.access_token) || address.includes('token='))).toEqual(
      [],
    );
  });

  test('message content is always shown as text', async () => {
    const owner = await stack.person();
    const topic = await createTopic(owner, { description: '<img src=x onerror=alert(1)>' });
    const text = '<script>alert(1)</script><img src="x" onerror="alert(2)">\n[a](javascript:alert(3)) <b>bold</b>';
    const hostile = { topic: topic.name, message: text, title: '<svg onload=alert(4)>', tags: ['<i>tag</i>'] };
    await owner.post('/', hostile);
    const page = await chromium.open(`/console/topics/${topic.name}`);
    await isLive(page);
    await owner.post('/', hostile);
    await eventually(async () => expect(await texts(page)).toEqual([text, text]));
    expect(await page.locator('.content :is(script, img, svg, b, i)').count()).toBe(0);
    expect(await page.locator('.message h3').allTextContents()).toEqual(Array(2).fill('<svg onload=alert(4)>'));
    expect(await page.locator('.message .badge').allTextContents()).toEqual(Array(2).fill('<i>tag</i>'));
  });

  test("a browser that opens a public topic's URL reads and publishes without a login", async () => {
    const topic = await createTopic(await stack.person());
    const page = await chromium.open(`/${topic.name}`);
    await isLive(page);
    expect(new URL(page.url()).pathname).toBe(`/console/topics/${topic.name}`);
    await page.getByLabel('Message', { exact: true }).fill('from nobody');
    await click(page, 'Publish');
    await eventually(async () => expect(await texts(page)).toEqual(['from nobody']));
  });

  test('a private topic asks for a login and returns; an unknown topic is reported', async () => {
    const owner = await stack.person();
    const topic = await createTopic(owner, { access_level: 'private' });
    chromium.expectRefusals();
    const page = await chromium.open(`/console/topics/${topic.name}`);
    await see(page, 'Not authenticated');
    await page.locator('main').getByRole('link', { name: 'Log in' }).click();
    await typeLogin(page, owner);
    await heading(page, topic.name);
    await isLive(page);
    await page.goto(`${testStack().urls[0]}/console/topics/${newTopicName()}`);
    await see(page, 'Topic not found');
  });

  test('an expired login is refreshed once for all requests, and leads to the login page if that fails', async () => {
    const person = await registerVerified();
    const { access, refresh } = await logIn(person);
    chromium.expectRefusals();
    const page = await chromium.open('/console/login');
    const keep = (tokens: object) =>
      page.evaluate((stored) => localStorage.setItem('tocsin.session', JSON.stringify(stored)), {
        user: null,
        ...tokens,
      });
    await keep({ access_token: `${access}x`, refresh_token: refresh });
    await page.goto(`${testStack().urls[0]}/console`);
    await heading(page, 'Home');
    await see(page, person.username);
    await keep({ access_token: `${access}y`, refresh_token: 'void' });
    await page.goto(`${testStack().urls[0]}/console`);
    await heading(page, 'Log in');
  });

  test('a forgotten password is reset by the emailed link, whose token disappears from the URL', async () => {
    const person = await registerVerified();
    const page = await chromium.open('/console/forgot-password');
    await page.getByLabel('Email').fill(person.email);
    await click(page, 'Request link');
    await see(page, 'If an account with this address exists');
    await page.goto(here(await mailedLink(person.email, 'password-reset')));
    await heading(page, 'Set a new password');
    expect(new URL(page.url()).hash).toBe('');
    const password = 'another horse, another battery';
    await page.getByLabel('New password').fill(password);
    await page.getByLabel('Repeat password').fill('something else');
    await click(page, 'Set password');
    await see(page, 'The two passwords differ.');
    await page.getByLabel('Repeat password').fill(password);
    await click(page, 'Set password');
    await see(page, 'Your password is set');
    await logIn({ email: person.email, password });
  });

  test('an invite is accepted after the login that it requires', async () => {
    const owner = await stack.person({ tier: 'TEAM' });
    const invited = await stack.person();
    const teamId = await stack.team(owner);
    await owner.post(`/api/teams/${teamId}/invites`, { email: invited.email, role: 'member' });
    const page = await chromium.open('/console');
    await page.goto(here(await mailedLink(invited.email, 'team-invite')));
    await heading(page, 'Join a team');
    await page.locator('main').getByRole('link', { name: 'Log in' }).click();
    await typeLogin(page, invited);
    await see(page, `You are logged in as ${invited.email}`);
    await click(page, 'Accept invite');
    await see(page, 'You are now a member of A team.');
    expect((await invited.get('/api/teams')).body).toMatchObject([{ id: teamId, my_role: 'member' }]);
  });

  test('a failed verification shows the reason, and a Google login removes its tokens from the URL', async () => {
    const failed = await chromium.open('/auth/verify-email?token=void');
    await heading(failed, 'Not verified');
    await see(failed, 'Invalid or used token');
    const refused = await chromium.open('/auth/callback#error=access_denied');
    await see(refused, 'access_denied');
    const person = await registerVerified();
    const { access, refresh } = await logIn(person);
    const forged = await chromium.open(`/auth/callback#access_token=${access}&refresh_token=${refresh}`);
    await see(forged, 'This login did not begin in this tab');
    const page = await chromium.open('/console/login');
    await page.evaluate(() => sessionStorage.setItem('tocsin.provider-login', 'marker'));
    await page.goto(
      here(new URL(`http://app/auth/callback#access_token=${access}&refresh_token=${refresh}&app_state=marker`)),
    );
    await heading(page, 'Home');
    await see(page, person.username);
    expect([new URL(page.url()).pathname, new URL(page.url()).hash]).toEqual(['/console', '']);
    await page.goBack();
    expect(page.url()).not.toContain(access);
  });

  test('the verification page names the account, which the owner of the address can remove', async () => {
    const registration = newRegistration();
    await register(registration);
    const page = await chromium.open('/console/login');
    await page.goto(here(await mailedLink(registration.email, 'verify-email')));
    await see(page, `Your email address is verified for the account “${registration.username}”.`);
    await logIn(registration);
    await click(page, 'This was not me: remove the account');
    await see(page, `The account “${registration.username}” was removed.`);
    expect((await tryLogIn(registration)).status).toBe(401);
  });

  test("shows the server's error text and keeps the input", async () => {
    chromium.expectRefusals();
    const owner = await stack.person();
    const { name } = await createTopic(owner);
    const page = await openConsole(chromium, owner, '/console');
    await page.getByText('Create a topic', { exact: true }).click();
    await page.getByLabel('Name', { exact: true }).fill(name);
    await click(page, 'Create topic');
    await see(page, 'Topic name already exists');
    expect(await page.getByLabel('Name', { exact: true }).inputValue()).toBe(name);
    const out = await chromium.open('/console/login');
    await typeLogin(out, { email: owner.email, password: 'not this one' });
    await see(out, 'Could not validate credentials');
  });

  test.each([
    ['a desk', 1_280, 'light'],
    ['a phone', 360, 'dark'],
  ] as const)('on %s no content is cut off and every field has a label', async (_where, width, colorScheme) => {
    const owner = await stack.person();
    const topic = await createTopic(owner, { description: 'x'.repeat(200) });
    await owner.publish(topic.name, 'w'.repeat(300));
    const page = await chromium.open('/console/login', { viewport: { width, height: 740 }, colorScheme });
    const isWhole = async () => {
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(width);
      expect(
        await page.evaluate(
          "[...document.querySelectorAll('input, textarea, select')].filter(({ labels }) => labels.length === 0).length",
        ),
      ).toBe(0);
    };
    await isWhole();
    await typeLogin(page, owner);
    await heading(page, 'Home');
    await isWhole();
    await page.locator('main').getByRole('link', { name: topic.name }).click();
    await isLive(page);
    await isWhole();
    await page.goto(`${testStack().urls[0]}/console/register`);
    await heading(page, 'Create an account');
    await isWhole();
  });

  test('works with the keyboard alone', async () => {
    const owner = await stack.person();
    const page = await chromium.open('/console/login');
    await heading(page, 'Log in');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter'); // to the content
    await page.keyboard.press('Tab');
    await page.keyboard.type(owner.email);
    await page.keyboard.press('Tab');
    await page.keyboard.type(owner.password);
    await page.keyboard.press('Tab');
    await page.keyboard.press('Space');
    await heading(page, 'Home');
    await eventually(async () => expect(await page.evaluate('document.activeElement.id')).toBe('view'));
  });
});
