import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const oxlint = join(import.meta.dirname, '../../node_modules/oxlint/bin/oxlint');
const url = `https://example.org/${'a'.repeat(120)}`;
const rules = ['comment-length', 'plain-english', 'text-not-html'].map((rule) => [`tocsin/${rule}`, 'error']);

let dir: string;
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'tocsin-oxlint-test-'));
  const config = { jsPlugins: [join(import.meta.dirname, 'plugin.js')], rules: Object.fromEntries(rules) };
  writeFileSync(join(dir, '.oxlintrc.json'), JSON.stringify(config));
});
afterAll(() => rmSync(dir, { recursive: true }));

/** Returns `<line>:<column> <rule>` for each problem in the code. */
const problemsOf = (code: string) => {
  const file = join(dir, 'code.tsx');
  writeFileSync(file, code);
  const { stdout } = spawnSync(process.execPath, [oxlint, '--format', 'unix', file], { cwd: dir, encoding: 'utf8' });
  return [...stdout.matchAll(/:(\d+:\d+): .*tocsin\((.*)\)\]/g)].map(([, place, rule]) => `${place} ${rule}`);
};

test('comment-length reports comments beyond column 120, except URLs', () => {
  const [fits, exceeds] = [`// ${'a'.repeat(117)}`, `// ${'a'.repeat(118)}`];
  expect(
    problemsOf([fits, exceeds, `// ${url}`, `/*\n${exceeds}\n*/`, `export const text = '${exceeds}';`].join('\n')),
  ).toEqual(['2:121 comment-length', '5:121 comment-length']);
});

test('plain-english reports phrases in comments, and in texts of three words', () => {
  const phrase = 'nobody';
  const code = [
    `// ${phrase} knows.`,
    `export const key = "${phrase}";`,
    `export const texts = ["${phrase} knows it", \`x \${key} ${phrase} knows it\`];`,
  ];
  expect(problemsOf(code.join('\n'))).toEqual(['1:4 plain-english', '3:24 plain-english', '3:52 plain-english']);
});

test('text-not-html reports what parses text as HTML', () => {
  const code = `export const use = (element) => {
  element.innerHTML = '';
  document.write('');
  element.textContent = '';
  return <p dangerouslySetInnerHTML={{ __html: '' }} />;
};`;
  expect(problemsOf(code)).toEqual(['2:11 text-not-html', '3:12 text-not-html', '5:13 text-not-html']);
});
