import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { findProgram } from '../../tools/engines/find-program.ts';
import { describeUnlessMissing } from '../../tools/test/describe-unless-missing.ts';
import { Client, createTopic, testStack } from '../support/stack.ts';
import { useStack, type Person } from '../support/use-stack.ts';

const stack = useStack();

/** The examples of https://docs.ntfy.sh/publish/ with address and topic replaced. */
describeUnlessMissing('curl', findProgram('curl') === undefined ? ['curl'] : [], () => {
  let owner: Person;
  let name: string;
  let closed: string;
  let token: string;
  let dir: string;

  beforeAll(async () => {
    dir = mkdtempSync(join(tmpdir(), 'tocsin-curl-'));
    writeFileSync(join(dir, 'text.md'), '# Disk\n\n- *full*\n');
    owner = await stack.person({ tier: 'TEAM' });
    ({ name } = await createTopic(owner));
    closed = (await createTopic(owner, { access_level: 'private' })).name;
    token = (await owner.post(`/api/topics/${closed}/access-tokens`, { name: 'curl', permissions: ['write'] })).body
      .token;
  });
  afterAll(() => rmSync(dir, { recursive: true, force: true }));

  interface Ran {
    readonly status: number;
    // oxlint-disable-next-line typescript/no-explicit-any -- a test asserts what it finds
    readonly body: any;
  }

  function curl(args: string[], stdin = ''): Promise<Ran> {
    const address = new Client().address;
    const all = ['-sS', '-m', '50', '-w', '\n%{http_code}', '-H', `X-Forwarded-For: ${address}`, ...args];
    return new Promise((resolve, reject) => {
      const child = execFile('curl', all, { cwd: dir, timeout: 55_000 }, (error, stdout) => {
        if (error !== null) return reject(error);
        const end = stdout.lastIndexOf('\n');
        return resolve({ status: Number(stdout.slice(end + 1)), body: JSON.parse(stdout.slice(0, end)) });
      });
      // A process that does not read its input may exit before it is written (EPIPE).
      child.stdin!.on('error', () => undefined).end(stdin);
    });
  }

  const at = (path = '') => `${testStack().urls[0]!}/${name}${path}`;
  const basic = (text: string) => Buffer.from(text).toString('base64');

  const forms: readonly [string, () => string[], object][] = [
    [
      '-d',
      () => ['-d', 'Backup successful 😀', at()],
      { message: 'Backup successful 😀', title: null, priority: 3, tags: [] },
    ],
    [
      '-d with headers',
      () => [
        '-H',
        'Title: Unauthorized access detected',
        '-H',
        'Priority: urgent',
        '-H',
        'Tags: warning,skull',
        '-d',
        'Remote access to phils-laptop detected.',
        at(),
      ],
      { title: 'Unauthorized access detected', priority: 5, tags: ['warning', 'skull'] },
    ],
    [
      '-d with X- headers',
      () => ['-H', 'X-Title: Dogs', '-H', 'X-Priority: 1', '-H', 'X-Tags: a', '-H', 'X-Markdown: 1', '-d', '*x*', at()],
      { title: 'Dogs', priority: 1, tags: ['a'], markdown: true },
    ],
    [
      '-H with the short names',
      () => ['-H', 't: Short', '-H', 'p:low', '-H', 'ta: x , y', '-d', 'z', at()],
      { title: 'Short', priority: 2, tags: ['x', 'y'] },
    ],
    ['-H with UTF-8 in it', () => ['-H', 'Title: Größe 👋', '-d', 'z', at()], { title: 'Größe 👋' }],
    ['-H with an encoded word', () => ['-H', 'Title: =?UTF-8?B?8J+HqfCfh6o=?=', '-d', 'z', at()], { title: '🇩🇪' }],
    [
      'a query',
      () => ['-d', 'z', at('?title=From+the+query&priority=max&tags=x,y&markdown=yes')],
      { title: 'From the query', priority: 5, tags: ['x', 'y'], markdown: true },
    ],
    [
      'a query with X- names',
      () => ['-d', 'z', at('?X-Title=From%20it&x-priority=4')],
      { title: 'From it', priority: 4 },
    ],
    ['-X POST without a body', () => ['-X', 'POST', '-H', 'Message: Hi\\nthere', at()], { message: 'Hi\nthere' }],
    ['-X PUT without a body', () => ['-X', 'PUT', at('?message=Hi&title=There')], { message: 'Hi', title: 'There' }],
    [
      '--data-binary @file',
      () => ['--data-binary', '@text.md', '-H', 'Content-Type: text/markdown', at()],
      { message: '# Disk\n\n- *full*\n', markdown: true },
    ],
    ['--data-raw', () => ['--data-raw', '@no-file', at()], { message: '@no-file' }],
    ['-T file', () => ['-T', 'text.md', '-H', 'Filename: text.md', at()], { message: '# Disk\n\n- *full*\n' }],
    ['--http1.0', () => ['--http1.0', '-d', 'old', at()], { message: 'old' }],
    ['-H Expect', () => ['-H', 'Expect: 100-continue', '-d', 'patient', at()], { message: 'patient' }],
    [
      '-H Transfer-Encoding',
      () => ['-H', 'Transfer-Encoding: chunked', '-d', 'in pieces', at()],
      { message: 'in pieces' },
    ],
    [
      'features that Tocsin does not have',
      () => [
        '-H',
        'At: tomorrow, 10am',
        '-H',
        'Click: https://example.org',
        '-H',
        'Actions: view, Open, https://example.org',
        '-H',
        'Icon: https://example.org/i.png',
        '-H',
        'Attach: https://example.org/f',
        '-H',
        'Cache: no',
        '-H',
        'Firebase: no',
        '-H',
        'Email: a@example.org',
        '-H',
        'Call: yes',
        '-d',
        'z',
        at(),
      ],
      { message: 'z' },
    ],
    [
      'JSON at the root',
      () => [
        '-d',
        JSON.stringify({
          topic: name,
          message: 'Disk space is low',
          title: 'Low',
          tags: ['warning', 'cd'],
          priority: 4,
          attach: 'https://example.org/f.jpg',
          filename: 'f.jpg',
          click: 'https://example.org',
          actions: [{ action: 'view', label: 'Admin', url: 'https://example.org' }],
          delay: '30min',
          email: 'a@example.org',
          icon: 'https://example.org/i.png',
          call: 'yes',
          cache: 'no',
          firebase: 'no',
          sequence_id: 'x',
        }),
        testStack().urls[0]!,
      ],
      { message: 'Disk space is low', title: 'Low', priority: 4, tags: ['warning', 'cd'], event: 'message' },
    ],
    [
      'JSON at the root by PUT',
      () => [
        '-X',
        'PUT',
        '-H',
        'Content-Type: application/json',
        '-d',
        JSON.stringify({ topic: name, message: 'm' }),
        `${testStack().urls[0]!}/`,
      ],
      { message: 'm' },
    ],
  ];

  test.each(forms)('publishes by %s', async (_form, args, expected) => {
    expect(await curl(args())).toMatchObject({ status: 200, body: { topic: name, ...expected } });
  });

  test('publishes its standard input', async () => {
    expect(await curl(['-T-', at()], 'piped\n')).toMatchObject({ status: 200, body: { message: 'piped\n' } });
    expect(await curl(['-d', '@-', at()], 'without\nits line breaks\n')).toMatchObject({
      status: 200,
      body: { message: 'withoutits line breaks' },
    });
  });

  test.each<[string, () => string[]]>([
    ['-u with the token as the password', () => ['-u', `:${token}`]],
    ['-u with any name', () => ['-u', `anyone:${token}`]],
    ['-H Authorization: Bearer', () => ['-H', `Authorization: Bearer ${token}`]],
    ['-H Authorization: Basic', () => ['-H', `Authorization: Basic ${basic(`:${token}`)}`]],
    ['-H X-Topic-Token', () => ['-H', `X-Topic-Token: ${token}`]],
  ])('publishes to a private topic by %s', async (_form, args) => {
    const url = `${testStack().urls[0]!}/${closed}`;
    expect(await curl([...args(), '-d', 'secret', url])).toMatchObject({ status: 200, body: { message: 'secret' } });
    expect(await curl(['-d', 'secret', url])).toMatchObject({ status: 401 });
  });

  test.each([
    ['Bearer', () => `Bearer ${token}`],
    ['Basic', () => `Basic ${basic(`:${token}`)}`],
  ])('publishes by ?auth= with %s', async (_scheme, value) => {
    const auth = Buffer.from(value()).toString('base64url');
    expect(await curl(['-d', 'x', `${testStack().urls[0]!}/${closed}?auth=${auth}`])).toMatchObject({ status: 200 });
  });

  test('gets refusals as JSON, never as a page', async () => {
    expect(await curl(['-d', 'x', '-H', 'Priority: 9', at()])).toEqual({
      status: 422,
      body: { detail: 'priority: must be 1 to 5, or min, low, default, high, max or urgent' },
    });
    expect(await curl(['-d', 'x', at('-is-unknown')])).toEqual({ status: 404, body: { detail: 'Topic not found' } });
  });
});
