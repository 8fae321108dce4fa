import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { embeddedOnly } from '../test/embedded-only.ts';
import { findTestNames } from './find-test-names.ts';
import { checkResults, readReport } from './check-results.ts';
import { checkSources } from './check-sources.ts';
import { proofsDocument, securitySection } from './proofs-document.ts';
import { readProofs } from './read-proofs.ts';

const root = join(import.meta.dirname, '..', '..');
const readSource = (file: string) =>
  existsSync(join(root, file)) ? readFileSync(join(root, file), 'utf8') : undefined;

describe(proofsDocument, () => {
  const rows = readProofs(proofsDocument, readSource(proofsDocument)!);

  test('names an existing test in every row', () => {
    expect(rows.length).toBeGreaterThan(0);
    expect(checkSources(rows, readSource)).toEqual([]);
  });

  test('has each row once', () => {
    const said = rows.map(({ row }) => row);
    expect(said.filter((row, index) => said.indexOf(row) !== index)).toEqual([]);
  });

  test('has one row for each check of docs/security.md, in order', () => {
    const checks = readSource('docs/security.md')!.matchAll(/^(?<number>\d+)\. /gm);
    expect(rows.filter(({ section }) => section === securitySection).map(({ row }) => row)).toEqual(
      [...checks].map(({ groups }) => `security ${groups!['number']}`),
    );
  });
});

const document = `
| row | proved by |
|---|---|
| a \\| b | \`x.test.ts\` › all › is 1 \\| 2<br>\`y.test.ts\` › other |
| c | |
| d | x.test.ts › nothing |

## Part

| row | proved by |
|---|---|
| f | \`x.test.ts\` › all |

| row | else |
|---|---|
| e | |
`;

describe('the rows of a document', () => {
  test('are read from the tables with proofs, with their tests', () => {
    expect(readProofs('doc.md', document)).toEqual([
      {
        document: 'doc.md',
        line: 4,
        section: '',
        row: 'a | b',
        unread: [],
        tests: [
          { file: 'x.test.ts', name: 'all › is 1 | 2' },
          { file: 'y.test.ts', name: 'other' },
        ],
      },
      { document: 'doc.md', line: 5, section: '', row: 'c', unread: [], tests: [] },
      { document: 'doc.md', line: 6, section: '', row: 'd', unread: ['x.test.ts › nothing'], tests: [] },
      {
        document: 'doc.md',
        line: 12,
        section: 'Part',
        row: 'f',
        unread: [],
        tests: [{ file: 'x.test.ts', name: 'all' }],
      },
    ]);
  });
});

describe('the names of the tests of a file', () => {
  test.each([
    [`test('a', () => {}); it("b", f);`, ['a', 'b']],
    [`describe('g', () => { describe('h', () => { test('a', () => {}); }); test('b', f); });`, ['g › h › a', 'g › b']],
    [`test.each([['x', 1]])('%s is %d, $y', (x) => {});`, ['* is *, *']],
    ['test.each`a | b`("$a", () => {}); test(`of ${count} one`, f); test(name, f);', ['*', 'of * one', '*']],
    [`describe.each(all)('over %s', (one) => { test('100 %s', f); });`, ['over * › 100 %s']],
    [`test.skip('a', f); expect(test('x')).toBe(1); /a/.test('b', 1);`, ['a']],
    [`for (const x of all) describeUnlessMissing('g', [], () => { test('it\\'s', f); });`, ["g › it's"]],
    [`if (engineUnderTest === 'cluster') { test('a', f); } if (body) test('b', f);`, ['b']],
  ])('%s', (source, names) => {
    expect(findTestNames(source)).toEqual(names);
  });
});

const rowIn = (section: string, ...tests: [file: string, name: string][]) => [
  { document: 'doc.md', line: 1, section, row: 'r', unread: [], tests: tests.map(([file, name]) => ({ file, name })) },
];
const rowOf = (...tests: [file: string, name: string][]) => rowIn('', ...tests);

describe('without a run', () => {
  const sources: Record<string, string> = {
    'x.test.ts': `describe('g', () => { test.each([1])('is %d', f); test('b (c)', f); });`,
  };
  const faults = (...tests: [string, string][]) => checkSources(rowOf(...tests), (file) => sources[file]);

  test('accepts a row that names existing tests', () => {
    expect(faults(['x.test.ts', 'g › b (c)'], ['x.test.ts', 'g › is 1'], ['x.test.ts', 'g › is *'])).toEqual([]);
  });

  test.each([
    [[], 'doc.md:1: r: names no test'],
    [[['z.test.ts', 'a']], 'doc.md:1: r: file z.test.ts does not exist'],
    [[['x.test.ts', 'g › b']], 'doc.md:1: r: x.test.ts has no test "g › b"'],
    [[['x.test.ts', '*']], 'doc.md:1: r: x.test.ts has no test "*"'],
  ] as [[string, string][], string][])('reports %j', (tests, fault) => {
    expect(faults(...tests)).toEqual([fault]);
  });

  test('reports a row whose tests do not have the required form', () => {
    expect(checkSources(readProofs('doc.md', document).slice(1, 3), () => undefined)).toEqual([
      'doc.md:5: c: names no test',
      expect.stringContaining('is not of the form'),
    ]);
  });
});

describe('after a run', () => {
  const passed = (...names: string[]) =>
    names.map((name) => ({ ancestorTitles: ['g'], title: name, status: 'passed' }));
  const report = (assertionResults: ReturnType<typeof passed>, file = 'tests/a.test.ts') =>
    readReport({ testResults: [{ name: `/root/${file}`, assertionResults }] }, '/root');
  const faults = (run: [string, ReturnType<typeof report>][], name: string, file = 'tests/a.test.ts') =>
    checkResults(rowOf([file, name]), new Map(run)).map((fault) => fault.replace('doc.md:1: r: ', ''));

  test('accepts a row whose matching tests all passed on both engines', () => {
    const run: [string, ReturnType<typeof report>][] = [
      ['acceptance-embedded', report(passed('b', 'is 1'))],
      ['acceptance-cluster', report(passed('b', 'is 1', 'is 2'))],
    ];
    expect(faults(run, 'g › b')).toEqual([]);
    expect(faults(run, 'g › is *')).toEqual([]);
  });

  test('reports a test that failed, was skipped or does not exist', () => {
    const both = (results: ReturnType<typeof passed>): [string, ReturnType<typeof report>][] => [
      ['acceptance-embedded', report(passed('is 1'))],
      ['acceptance-cluster', report(results)],
    ];
    expect(faults(both([{ ancestorTitles: ['g'], title: 'is 1', status: 'failed' }]), 'g › is *')).toEqual([
      '"g › is 1" is failed in acceptance-cluster',
    ]);
    expect(
      faults(both([...passed('is 1'), { ancestorTitles: ['g'], title: 'is 2', status: 'pending' }]), 'g › is *'),
    ).toEqual(['"g › is 2" is pending in acceptance-cluster']);
    expect(faults(both(passed('b')), 'g › is 1')).toEqual(['"g › is 1" was not run by acceptance-cluster']);
  });

  test('reports a file that ran on only one engine or not at all', () => {
    const run: [string, ReturnType<typeof report>][] = [
      ['acceptance-embedded', report(passed('b'))],
      ['acceptance-cluster', report([], 'tests/other.test.ts')],
    ];
    expect(faults(run, 'g › b')).toEqual(['tests/a.test.ts was not run by acceptance-cluster']);
    expect(faults(run, 'g › b', 'tests/c.test.ts')).toEqual([
      'tests/c.test.ts was not run',
      'names no test that runs on an engine',
    ]);
  });

  test('accepts a file that only the embedded engine runs', () => {
    const [file] = embeddedOnly;
    const run: [string, ReturnType<typeof report>][] = [
      ['acceptance-embedded', report(passed('b'), file)],
      ['acceptance-cluster', report([], 'tests/other.test.ts')],
    ];
    expect(faults(run, 'g › b', file)).toEqual([]);
  });

  test('accepts a test without an engine only in the security section', () => {
    const run: [string, ReturnType<typeof report>][] = [['unit', report(passed('b'))]];
    expect(faults(run, 'g › b')).toEqual(['names no test that runs on an engine']);
    expect(checkResults(rowIn(securitySection, ['tests/a.test.ts', 'g › b']), new Map(run))).toEqual([]);
  });

  test('accepts only the group that is skipped because a program is missing', () => {
    const left = [
      {
        ancestorTitles: ['g (skipped, missing: a browser; curl)'],
        title: 'requirements are missing',
        status: 'pending',
      },
    ];
    const run: [string, ReturnType<typeof report>][] = [
      ['acceptance-embedded', report(left)],
      ['acceptance-cluster', report(left)],
    ];
    expect(faults(run, 'g › b')).toEqual([]);
    expect(faults(run, 'gg › b')).toEqual([
      '"gg › b" was not run by acceptance-embedded',
      '"gg › b" was not run by acceptance-cluster',
    ]);
  });

  test('ignores a part that did not run', () => {
    expect(faults([['acceptance-embedded', report(passed('b'))]], 'g › b')).toEqual([]);
  });
});
