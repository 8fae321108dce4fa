import { expect, test } from '@jest/globals';
import { eventually } from '@tocsin/shared/testing/eventually.ts';
import { describeUnlessMissing } from '../../tools/test/describe-unless-missing.ts';
import { missingForChromium, useChromium } from '../support/chromium.ts';
import { mailedLink } from '../support/mailbox.ts';
import { click, heading, here, isLive, openConsole, see, texts, typeLogin } from '../support/open-console.ts';
import { newRegistration } from '../support/registration.ts';
import { Client, createTopic, newTopicName, testStack } from '../support/stack.ts';
import { useStack } from '../support/use-stack.ts';

describeUnlessMissing('in Chromium', missingForChromium(), () => {
  const stack = useStack();
  const chromium = useChromium();

  test('registers, verifies the email, logs in, creates a topic, publishes to it and logs out', async () => {
    const person = newRegistration();
    const page = await chromium.open('/');
    await heading(page, 'Log in');
    await page.getByRole('link', { name: 'Create an account' }).first().click();
    await page.getByLabel('Email').fill(person.email);
    await page.getByLabel('Username').fill(person.username);
    await page.getByLabel('Password').fill(person.password);
    await page.getByLabel(/I accept the terms/).check();
    await click(page, 'Create account');
    await see(page, 'Account created.');
    await page.goto(here(await mailedLink(person.email, 'verify-email')));
    await heading(page, 'Email address verified');
    await page.getByRole('link', { name: 'Log in' }).first().click();
    await typeLogin(page, person);
    await heading(page, 'Home');
    await see(page, 'Send your first notification');
    const topic = newTopicName();
    await page.getByText('Create a topic', { exact: true }).click();
    await page.getByLabel('Name', { exact: true }).fill(topic);
    await click(page, 'Create topic');
    await heading(page, topic);
    await isLive(page);
    await page.getByLabel('Message', { exact: true }).fill('first of all');
    await page.getByLabel('Title').fill('Größe 📦');
    await page.getByLabel('Tags').fill('db, ok');
    await page.getByLabel('Priority').selectOption('5');
    await click(page, 'Publish');
    await see(page, 'first of all');
    const { body } = await new Client().call('GET', `/${topic}/json`);
    expect(body.messages).toMatchObject([
      { message: 'first of all', title: 'Größe 📦', tags: ['db', 'ok'], priority: 5 },
    ]);
    await page.getByRole('link', { name: 'Home', exact: true }).click();
    await page.locator('main').getByRole('link', { name: topic }).waitFor();
    await click(page, 'Log out');
    await heading(page, 'Log in');
    expect(await page.evaluate(() => Object.keys({ ...localStorage, ...sessionStorage }))).toEqual(['tocsin.theme']);
    await page.goto(`${testStack().urls[0]}/console`);
    await heading(page, 'Log in');
  });

  test("a topic's page shows its history and live messages, edits and deletions, each once", async () => {
    const owner = await stack.person({ tier: 'ESSENTIALS' });
    const topic = await createTopic(owner, { access_level: 'private' });
    for (const text of ['one', 'two']) await owner.publish(topic.name, text);
    const page = await openConsole(chromium, owner, `/console/topics/${topic.name}`);
    await isLive(page);
    expect(await texts(page)).toEqual(['two', 'one']);
    const { id } = (await owner.publish(topic.name, 'three')).body;
    await see(page, 'three');
    await owner.patch(`/api/${topic.name}/messages/${id}`, { message: 'three, and a half' });
    await see(page, 'three, and a half');
    expect(await texts(page)).toEqual(['three, and a half', 'two', 'one']);
    await owner.delete(`/api/${topic.name}/messages/${id}`);
    await eventually(async () => expect(await texts(page)).toEqual(['two', 'one']));
  });
});
