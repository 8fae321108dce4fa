import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { installApprise, missingForApprise } from '../../tools/clients/install-apprise.ts';
import { missingForCertificate } from '../../tools/clients/make-certificate.ts';
import { startTlsProxy, type TlsProxy } from '../../tools/clients/start-tls-proxy.ts';
import { describeUnlessMissing } from '../../tools/test/describe-unless-missing.ts';
import { Client, createTopic, testStack } from '../support/stack.ts';
import { useStack, type Person } from '../support/use-stack.ts';

const stack = useStack();

// Apprise has no support for Tocsin: it treats it as an ntfy server.
describeUnlessMissing('Apprise', [...missingForApprise(), ...missingForCertificate()], () => {
  let pythonPath: string;
  let proxy: TlsProxy;
  let owner: Person;
  let topic: { id: string; name: string };
  let token: string;
  let host: string;

  beforeAll(async () => {
    pythonPath = await installApprise();
    host = new URL(testStack().urls[0]!).host;
    proxy = await startTlsProxy(testStack().urls[0]!, { 'X-Forwarded-For': new Client().address });
    owner = await stack.person({ tier: 'TEAM' });
    topic = await createTopic(owner, { access_level: 'private' });
    token = (await owner.post(`/api/topics/${topic.name}/access-tokens`, { name: 'apprise', permissions: ['write'] }))
      .body.token;
  }, 300_000);
  afterAll(() => proxy?.close());

  /** Runs its command line. Resolves with the output, rejects if it reports that it could not send. */
  const apprise = (...args: string[]) =>
    promisify(execFile)(
      'python3',
      ['-c', 'import sys; from apprise.cli import main; sys.exit(main())', '-vv', ...args],
      {
        env: {
          ...process.env,
          PYTHONPATH: pythonPath,
          PYTHONDONTWRITEBYTECODE: '1',
          REQUESTS_CA_BUNDLE: proxy.certificateFile,
          PYTHONUTF8: '1',
        },
        timeout: 50_000,
      },
    );
  const newest = async (by = owner, name = topic.name) => (await by.get(`/${name}/json?limit=1`)).body.messages[0];

  test('ntfy:// with a topic token sends title, text and all supported fields', async () => {
    const query =
      'priority=high&tags=backup,db&click=https://example.org&email=a@example.org&actions=view%2COpen%2Chttps%3A%2F%2Fexample.org';
    await apprise(
      '-t',
      'Größe 📦',
      '-b',
      'Nightly backup\nfinished',
      '-i',
      'markdown',
      `ntfy://${token}@${host}/${topic.name}?${query}`,
    );
    expect(await newest()).toMatchObject({
      title: 'Größe 📦',
      message: 'Nightly backup\nfinished',
      priority: 4,
      tags: ['backup', 'db'],
      click: 'https://example.org',
      icon_url: expect.stringMatching(/^https:.*apprise/),
      actions: [{ action: 'view', label: 'Open', url: 'https://example.org', clear: false }],
    });
  });

  test.each([
    ['max', 5],
    ['min', 1],
  ])('its priority %s is %d', async (name, priority) => {
    await apprise('-b', `as ${name}`, `ntfy://${token}@${host}/${topic.name}?priority=${name}`);
    expect(await newest()).toMatchObject({ message: `as ${name}`, priority, title: null });
  });

  test('ntfys:// works through a TLS proxy', async () => {
    await apprise(
      '-t',
      'TLS',
      '-b',
      'encrypted',
      `ntfys://${token}@127.0.0.1:${proxy.port}/${topic.name}?format=markdown`,
    );
    expect(await newest()).toMatchObject({ title: 'TLS', message: 'encrypted', markdown: true });
  });

  test('accepts an API key as a password or a token', async () => {
    const { key } = (await owner.post('/api/keys', { name: 'apprise', scopes: ['publish'] })).body;
    for (const [text, url] of [
      ['password', `ntfy://anyone:${key}@${host}/${topic.name}`],
      ['token', `ntfy://${key}@${host}/${topic.name}?auth=token`],
    ] as const) {
      await apprise('-b', text, url);
      expect((await newest()).message).toBe(text);
    }
  });

  test('sends to a public topic without a credential, and one message to each of several topics', async () => {
    const [one, two] = [await createTopic(owner), await createTopic(owner)];
    await apprise('-b', 'to both', `ntfys://127.0.0.1:${proxy.port}/${one.name}/${two.name}`);
    for (const { name } of [one, two]) expect((await newest(owner, name)).message).toBe('to both');
  });

  test('reports a refused message as a failure', async () => {
    await expect(apprise('-b', 'x', `ntfy://tk_wrong@${host}/${topic.name}`)).rejects.toMatchObject({
      code: 1,
      stdout: expect.stringContaining('401'),
    });
    await expect(apprise('-b', 'x'.repeat(4_001), `ntfy://${token}@${host}/${topic.name}`)).rejects.toMatchObject({
      stdout: expect.stringContaining('422'),
    });
  });

  test('sends a text file as the text and refuses other files', async () => {
    await apprise(
      '-t',
      'a file',
      '-b',
      'its message',
      '--attach',
      'tsconfig.json',
      `ntfy://${token}@${host}/${topic.name}`,
    );
    expect((await newest()).message).toContain('"compilerOptions"');
    await expect(
      apprise('-b', 'x', '--attach', process.execPath, `ntfy://${token}@${host}/${topic.name}`),
    ).rejects.toMatchObject({ code: 1 });
  });
});
