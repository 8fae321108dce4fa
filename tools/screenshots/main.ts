import { execFile } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { withClosers } from '@tocsin/shared/platform/lifecycle.ts';
import { startExpoSimulator } from '@tocsin/simulators/expo-simulator.ts';
import { chromium, type Browser, type BrowserContext, type Page } from 'playwright-core';
import { Client, accessTokenOf } from '../../tests/support/stack.ts';
import { findChromium } from './find-chromium.ts';
import { startEmbeddedStack, type Stack } from '../stack/start-stack.ts';
import { fillConsole } from './fill-console.ts';

// Takes the pictures of README.md and docs/console.md: `npm run screenshots`. CONTRIBUTING.md has its requirements.
const folder = 'docs/screenshots';
const person = { email: 'ada@example.org', username: 'ada', password: 'correct horse battery' };

const operatorToken = 'the-operator-of-the-pictures';

const desktop = { width: 1_280, height: 800 };
const phone = { width: 390, height: 780 };

interface Shot {
  readonly name: string;
  readonly path: string;
  readonly theme: 'light' | 'dark';
  readonly size: typeof desktop;
  /** Brings the page into the state of the picture. */
  readonly prepare?: (page: Page) => Promise<void>;
}

const shots: readonly Shot[] = [
  { name: 'topic-light', path: '/console/topics/alerts', theme: 'light', size: desktop, prepare: showMessages },
  { name: 'topic-dark', path: '/console/topics/alerts', theme: 'dark', size: desktop, prepare: showMessages },
  { name: 'topic-phone', path: '/console/topics/alerts', theme: 'light', size: phone, prepare: showMessages },
  { name: 'home-phone-dark', path: '/console', theme: 'dark', size: phone },
  { name: 'log', path: '/console/topics/alerts/log?from_offset=0', theme: 'light', size: desktop },
  { name: 'team', path: '/console/teams/{team}', theme: 'light', size: desktop },
  { name: 'devices', path: '/console/devices', theme: 'light', size: desktop },
  { name: 'admin', path: '/console/admin/audit', theme: 'light', size: desktop, prepare: enterToken },
  { name: 'notifications', path: '/console/topics/alerts/notifications', theme: 'light', size: desktop },
];

await withClosers(async (own) => {
  const executablePath = findChromium();
  if (executablePath === undefined)
    throw new Error('Chromium is missing. Install the package chromium, or Google Chrome.');
  const expo = await startExpoSimulator();
  own.add(() => expo.close());
  const env = { RATE_LIMITS: 'off', LOG_LEVEL: 'warn', EXPO_URL: expo.url, ADMIN_TOKEN: operatorToken };
  const stack = await startEmbeddedStack({ env });
  own.add(() => stack.stop());
  await createPerson(stack);
  const { teamId } = await fillConsole(new Client(await accessTokenOf(person, stack.urls), stack.urls), expo);
  const browser = await chromium.launch({ executablePath });
  own.add(() => browser.close());
  mkdirSync(folder, { recursive: true });
  const storageState = await logIn(browser, stack);
  for (const { path, ...shot } of shots)
    await take(browser, stack, { ...shot, path: path.replace('{team}', teamId), storageState });
  await own.closeAll();
});

async function createPerson({ env }: Stack): Promise<void> {
  const { email, username, password } = person;
  const create = ['cli/main.ts', 'user', 'create', email, '--username', username, '--password', password];
  const options = { env: { ...process.env, ...env } };
  await promisify(execFile)(process.execPath, create, options);
  await promisify(execFile)(process.execPath, ['cli/main.ts', 'user', 'set-tier', email, 'TEAM'], options);
}

type StorageState = Awaited<ReturnType<BrowserContext['storageState']>>;

async function logIn(browser: Browser, stack: Stack): Promise<StorageState> {
  const page = await browser.newPage();
  await page.goto(`${stack.urls[0]}/console/login`);
  await page.getByLabel('Email').fill(person.email);
  await page.getByLabel('Password').fill(person.password);
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { level: 1, name: 'Home' }).waitFor();
  return page.context().storageState();
}

async function take(browser: Browser, stack: Stack, shot: Shot & { storageState: StorageState }): Promise<void> {
  const { name, path, theme, size, prepare, storageState } = shot;
  const scale = size === phone ? 2 : 1;
  const context = await browser.newContext({
    storageState,
    viewport: size,
    colorScheme: theme,
    deviceScaleFactor: scale,
    reducedMotion: 'reduce',
    locale: 'en-GB',
  });
  // Chromium without windows blocks notifications.
  await context.addInitScript(`Object.defineProperty(Notification, 'permission', { value: 'default' })`);
  const page = await context.newPage();
  await page.goto(stack.urls[0]! + path);
  await page.locator('main h1').first().waitFor();
  await page.locator('.skeleton').first().waitFor({ state: 'detached' });
  await prepare?.(page);
  writeFileSync(join(folder, `${name}.png`), await page.screenshot());
  await context.close();
  process.stdout.write(`${folder}/${name}.png\n`);
}

async function enterToken(page: Page): Promise<void> {
  await page.getByLabel('Token of the operator').fill(operatorToken);
  await page.keyboard.press('Enter');
  await page.getByRole('list', { name: 'Entries' }).waitFor();
}

async function showMessages(page: Page): Promise<void> {
  await page.getByRole('status').filter({ hasText: 'live' }).waitFor();
  await page.getByText('Certificate').first().waitFor();
}
