import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { boundaries, boundariesAsMarkdown } from './architecture/boundaries.ts';
import { findCycles, folderOf, isTestCode, checkImport, rowOf } from './architecture/check-imports.ts';
import { checkName } from './architecture/check-name.ts';
import { readImports, type Import } from './architecture/read-imports.ts';

const root = path.join(import.meta.dirname, '..');
const read = (file: string) => readFileSync(path.join(root, file), 'utf8');

/** Folders without sources, also listed in `.gitignore`. */
const foreign = new Set(['node_modules', 'data', 'coverage', 'dist', 'tmp']);
const files = globSync('**/{*.ts,*.tsx,*.css,package.json}', {
  cwd: root,
  exclude: (entry) => foreign.has(path.basename(entry)),
});
const sources = files.filter((file) => /\.tsx?$/.test(file));

/** A folder with more files serves several purposes and must be split. */
const productFilesMax = 25;

interface Manifest {
  name: string;
  dependencies?: Record<string, string>;
  devDependencies?: Record<string, string>;
}
const manifests = new Map(
  files
    .filter((file) => path.basename(file) === 'package.json')
    .map((file) => [path.dirname(file), JSON.parse(read(file)) as Manifest]),
);
const workspaces = new Map([...manifests].map(([folder, { name }]) => [name, folder]));

const importsOf = (tree: Record<string, string>): Import[] =>
  Object.entries(tree).flatMap(([file, source]) => readImports(file, source, workspaces));
const tree = Object.fromEntries(sources.map((file) => [file, read(file)]));
const imports = importsOf(tree);

describe('sources', () => {
  test('exist, and every import is an existing file or a package', () => {
    expect(sources.length).toBeGreaterThan(400);
    expect(imports.length).toBeGreaterThan(2_000);
    expect(imports.filter(({ file }) => file !== null && !files.includes(file))).toEqual([]);
  });

  test('import only what the table of boundaries allows', () => {
    expect(imports.map(checkImport).filter((fault) => fault !== null)).toEqual([]);
  });

  test('import only packages that their workspace declares', () => {
    const undeclared = imports.filter(({ from, package: name }) => {
      // The build of the console creates its virtual modules.
      if (name === null || /^(node|virtual):/.test(name) || isTestCode(from)) return false;
      const [, manifest] = [...manifests].find(([folder]) => from.startsWith(`${folder}/`)) ?? [];
      return manifest?.dependencies?.[name] === undefined;
    });
    expect(undeclared).toEqual([]);
  });

  test('have no import cycles between files or, except in tests, between folders', () => {
    expect(findCycles(imports, (file) => file)).toEqual([]);
    expect(
      findCycles(
        imports.filter(({ from }) => !isTestCode(from)),
        folderOf,
      ),
    ).toEqual([]);
  });

  test('are named after their exports', () => {
    // A second suffix states the role of a file (`.test`, `.contract`): such files may export anything.
    const checked = Object.entries(tree).filter(([file]) => path.basename(file).split('.').length === 2);
    expect(checked.map(([file, source]) => checkName(file, source)).filter((fault) => fault !== null)).toEqual([]);
  });

  test("name the audit log's collections only where it is written, read, swept and transferred", () => {
    const naming = Object.entries(tree)
      .filter(([file, source]) => !isTestCode(file) && /\baudit(Entries|Origins)\b/.test(source))
      .map(([file]) => file);
    expect(naming.sort()).toEqual([
      'services/retention/expired-documents.ts',
      'shared/collections/audit-log.ts',
      'shared/collections/collections.ts',
      'shared/installation/transfer/moved-collections.ts',
      'shared/operations/audit/combine-audit-entries.ts',
      'shared/operations/audit/find-audit-entries.ts',
    ]);
  });

  test(`are at most ${productFilesMax} per folder, not counting test code`, () => {
    const counts = Map.groupBy(
      sources.filter((file) => !isTestCode(file)),
      (file) => path.dirname(file),
    );
    const crowded = [...counts].filter(([, { length }]) => length > productFilesMax).map(([folder]) => folder);
    expect(crowded).toEqual([]);
  });

  test('use every row of the table', () => {
    const used = new Set(sources.map(rowOf));
    expect(boundaries.filter((row) => !used.has(row))).toEqual([]);
  });

  test('match the table in docs/architecture.md', () => {
    expect(read('docs/architecture.md')).toContain(`\n${boundariesAsMarkdown()}\n`);
  });
});

const faultsOf = (tree: Record<string, string>): (string | null)[] => importsOf(tree).map(checkImport);

describe('refuses the import', () => {
  test.each([
    ['shared/domain/topics/topic.ts', '../../platform/ids.ts'],
    ['shared/domain/topics/topic.ts', 'zod'],
    ['shared/domain/topics/topic.ts', 'node:crypto'],
    ['shared/platform/passwords.ts', '../domain/errors.ts'],
    ['shared/ports/bus/bus.ts', '../../collections/topics.ts'],
    ['shared/ports/bus/bus.ts', '../../platform/logger.ts'],
    ['shared/ports/bus/bus.ts', 'ioredis'],
    ['shared/collections/topics.ts', '../drivers/cluster/mongo-documents.ts'],
    ['shared/collections/topics.ts', '../platform/log.ts'],
    ['shared/drivers/cluster/open-cluster.ts', '../embedded/open-embedded.ts'],
    ['shared/drivers/embedded/open-embedded.ts', '../cluster/open-cluster.ts'],
    ['shared/drivers/embedded/open-embedded.ts', '../../collections/topics.ts'],
    ['shared/drivers/schedule-runner.ts', './cluster/redis-connection.ts'],
    ['shared/drivers/embedded/sqlite/sqlite-file.test.ts', '../../cluster/open-cluster.ts'],
    ['services/fanout/fan-out-batch.ts', '@tocsin/api/directory/directory.ts'],
    ['services/fanout/fan-out-batch.ts', '../notifier/send-push.ts'],
    ['services/notifier/providers/expo-gateway.ts', '@tocsin/shared/drivers/cluster/redis/redis-bus.ts'],
    ['services/notifier/start-notifier.ts', '@tocsin/cli/commands/serve.ts'],
    ['services/api/http/route.ts', '../api-deps.ts'],
    ['services/api/http/route.ts', '../live/open-stream.ts'],
    ['services/api/live/open-stream.ts', '../http/route.ts'],
    ['services/api/directory/directory.ts', '../http/route.ts'],
    ['services/api/access/logins.ts', '../features/accounts/login.ts'],
    ['services/api/access/logins.ts', '../routes.ts'],
    ['services/api/features/topics/create-topic.ts', '../accounts/login.ts'],
    ['services/api/features/topics/create-topic.ts', '@tocsin/api/features/accounts/login.ts'],
    ['services/api/features/topics/create-topic.ts', '../../routes.ts'],
    ['services/api/features/topics/create-topic.test.ts', '../accounts/login.ts'],
    ['cli/commands/serve.ts', '@tocsin/shared/drivers/embedded/open-embedded.ts'],
    ['cli/commands/serve.ts', '@tocsin/tools/engines/engine.ts'],
    ['services/api/app.ts', '@tocsin/shared/testing/eventually.ts'],
    ['services/api/app.ts', './app.fixtures.ts'],
    ['shared/drivers/cluster/open-cluster.ts', './redis-bus.place.ts'],
    ['tests/acceptance/topics-list.test.ts', '@tocsin/api/routes.ts'],
    ['tools/bench/main.ts', '@tocsin/shared/drivers/cluster/redis/redis-bus.ts'],
    ['console/src/api/call.ts', '@tocsin/shared/domain/topics/topic.ts'],
    ['elsewhere/main.ts', '@tocsin/shared/domain/topic.ts'],
  ])('%s → %s', (from, specifier) => {
    expect(faultsOf({ [from]: `import { x } from '${specifier}';` })).toEqual([expect.stringContaining(from)]);
  });

  test.each(['kafkajs', 'mongoose', 'mongodb', 'bullmq', 'ioredis', 'node:sqlite'])(
    'of %s outside of its own driver',
    (name) => {
      const [own, other] = name === 'node:sqlite' ? ['embedded', 'cluster'] : ['cluster', 'embedded'];
      const source = `import x from '${name}';`;
      const others = [
        `shared/drivers/${other}/x.ts`,
        `shared/drivers/${other}/x.test.ts`,
        'shared/drivers/x.ts',
        'shared/collections/x.ts',
        'shared/open-engine.ts',
        'services/api/x.ts',
        'cli/x.ts',
      ];
      expect(faultsOf(Object.fromEntries(others.map((file) => [file, source])))).toEqual(
        others.map((file) => expect.stringContaining(file)),
      );
      expect(faultsOf({ [`shared/drivers/${own}/x.ts`]: source, [`shared/drivers/${own}/x.test.ts`]: source })).toEqual(
        [null, null],
      );
    },
  );

  // Defined separately, because the complete expression below would count as an import of this file.
  const topicsStore = `'../../collections/topics.ts'`;
  test.each([
    `import { x } from '../../collections/topics.ts';`,
    `import type { X } from '../../collections/topics.ts';`,
    `import { a } from '../../domain/topic.ts'; export * from '../../collections/topics.ts';`,
    `export { x } from '../../collections/topics.ts';`,
    `import '../../collections/topics.ts';`,
    `const x = await import('../../collections/topics.ts');`,
    `let x: import('../../collections/topics.ts').X;`,
    `import { x } from '@tocsin/shared/collections/topics.ts';`,
    `new Worker(new URL(${topicsStore}, import.meta.url));`,
  ])('in the form %s', (source) => {
    const faults = faultsOf({ 'shared/drivers/cluster/x.ts': source }).filter((fault) => fault !== null);
    expect(faults).toEqual([expect.stringContaining('imports shared/collections/topics.ts')]);
  });
});

describe('allows the import', () => {
  test.each([
    ['shared/domain/topics/topic.ts', './tiers.ts'],
    ['shared/domain/topics/topic.test.ts', 'fast-check'],
    ['shared/platform/logger.ts', 'pino'],
    ['shared/contracts/bus/bus.contract.ts', '../testing/eventually.ts'],
    ['shared/drivers/cluster/redis/redis-bus.ts', '../budget-counters.ts'],
    ['shared/drivers/cluster/redis/redis-bus.test.ts', '../../../collections/topics.ts'],
    ['shared/open-engine.ts', './drivers/cluster/open-cluster.ts'],
    ['services/notifier/providers/expo-gateway.ts', '../push-metrics.ts'],
    ['services/api/features/topics/create-topic.ts', './describe-topics.ts'],
    ['services/api/features/topics/create-topic.ts', '../../api-deps.ts'],
    ['services/api/routes.ts', './features/topics/create-topic.ts'],
    ['services/api/main.ts', '@tocsin/shared/runtime/run-service.ts'],
    ['cli/commands/start-roles.ts', '@tocsin/fanout/start-fanout.ts'],
    ['tests/faults/watermark.test.ts', '@tocsin/shared/drivers/cluster/mongo/messages/mongo-messages.ts'],
  ])('%s → %s', (from, specifier) => {
    expect(faultsOf({ [from]: `import { x } from '${specifier}';` })).toEqual([null]);
  });
});

describe('finds a cycle', () => {
  test('between files, including type imports', () => {
    const cyclic = importsOf({
      'shared/domain/a.ts': `import './b.ts';`,
      'shared/domain/b.ts': `import type { C } from './c.ts';`,
      'shared/domain/c.ts': `import './a.ts';`,
      'shared/domain/d.ts': `import './a.ts';`,
    });
    expect(findCycles(cyclic, (file) => file)).toEqual([
      ['shared/domain/a.ts', 'shared/domain/b.ts', 'shared/domain/c.ts'],
    ]);
    expect(findCycles(cyclic, folderOf)).toEqual([]);
  });

  test('between folders whose files have no cycle', () => {
    const cyclic = importsOf({
      'services/notifier/a.ts': `import './mail/b.ts';`,
      'services/notifier/mail/c.ts': `import '../d.ts';`,
    });
    expect(findCycles(cyclic, (file) => file)).toEqual([]);
    expect(findCycles(cyclic, folderOf)).toEqual([['services/notifier', 'services/notifier/mail']]);
  });
});

test.each([
  ['publish-message.ts', 'export function publishMessage() {}', true],
  ['publish-message.ts', 'export async function sendText() {}', false],
  ['publish-message.ts', 'export const sendText = () => 1;', false],
  ['publish-message.ts', 'export class Sender {}', false],
  ['kafka-topic.ts', 'export function ensureKafkaTopic() {}', true],
  ['mongo-transaction.ts', 'export function inTransaction() {}', true],
  ['fan-out.ts', 'export interface FanOut {} export function start() {}', true],
  ['several.ts', 'export const one = 1; export const two = 2;', true],
])('the name of %s fits %s: %s', (file, source, fits) => {
  expect(checkName(`shared/${file}`, source) === null).toBe(fits);
});
