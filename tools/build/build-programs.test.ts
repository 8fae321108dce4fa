import { afterAll, beforeEach, expect, test } from '@jest/globals';
import { execFileSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { programModules } from '@tocsin/shared/runtime/program-build.ts';

const project = join(import.meta.dirname, '../..');
const all = realpathSync(mkdtempSync(join(tmpdir(), 'tocsin-programs-')));
afterAll(() => rmSync(all, { recursive: true }));

let root: string;

/** A project with the real build scripts and five small programs that print where they run from. */
beforeEach(() => {
  root = mkdtempSync(join(all, 'root-'));
  for (const file of ['runtime/program-build.ts', 'runtime/keep-build.ts', 'runtime/built-console.ts', 'package.json'])
    cpSync(join(project, 'shared', file), join(root, 'shared', file));
  for (const file of ['build-programs.ts', 'main.ts'])
    cpSync(join(import.meta.dirname, file), join(root, 'tools/build', file));
  for (const folder of ['clients/typescript/src', 'simulators', 'node_modules/@tocsin'])
    mkdirSync(join(root, folder), { recursive: true });
  symlinkSync(join(root, 'shared'), join(root, 'node_modules/@tocsin/shared'));
  symlinkSync(join(project, 'node_modules/rolldown'), join(root, 'node_modules/rolldown'));
  write('package.json', '{ "type": "module" }');
  write('package-lock.json', '{}');
  write('console/src/main.ts', '');
  write(
    'console/build.ts',
    `import { writeFileSync } from 'node:fs'; writeFileSync(process.argv[3] + '/index.html', 'built');`,
  );
  for (const module of Object.values(programModules))
    write(
      module,
      `import '@tocsin/shared/part.ts'; console.log(new Error().stack.includes('/dist/') ? 'built' : 'source');`,
    );
  write('shared/part.ts', `console.log(import.meta.dirname, import.meta.url);`);
  write(
    'cli/main.ts',
    `await (await import('@tocsin/shared/runtime/program-build.ts')).runProgram('cli', () => import('./program.ts'));`,
  );
});

const write = (file: string, content: string): void => {
  mkdirSync(dirname(join(root, file)), { recursive: true });
  writeFileSync(join(root, file), content);
};
const run = (file: string): string[] =>
  execFileSync(process.execPath, [join(root, file)], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] })
    .trim()
    .split('\n');
const build = (): string[] => run('tools/build/main.ts');
const locations = (): string => `${join(root, 'shared')} file://${join(root, 'shared/part.ts')}`;

test('runs a program from its sources until they are built, and then from the build', () => {
  expect(run('cli/main.ts')).toEqual([locations(), 'source']);
  build();
  expect(run('cli/main.ts')).toEqual([locations(), 'built']);
  expect(readdirSync(join(root, 'dist'))).toHaveLength(1);
});

test.each([
  ['a changed file', 'shared/part.ts', `console.log('changed');`, ['changed', 'source']],
  ['a new file', 'services/api/other.ts', '', undefined],
  ['other versions of packages', 'package-lock.json', '{ }', undefined],
])('does not use a build after %s', (_, file, content, printed) => {
  build();
  write(file, content);
  expect(run('cli/main.ts')).toEqual(printed ?? [locations(), 'source']);
  build();
  expect(run('cli/main.ts').at(-1)).toBe('built');
});

test('builds the console if its sources changed', () => {
  const builds = (): string[] => readdirSync(join(root, 'console/dist'));
  build();
  const first = builds();
  expect(first).toHaveLength(1);
  expect(readFileSync(join(root, 'console/dist', first[0]!, 'index.html'), 'utf8')).toBe('built');
  build();
  expect(builds()).toEqual(first);
  write('console/src/main.ts', 'changed');
  build();
  expect(builds()).toHaveLength(2);
});

test('removes builds that are older than a day', () => {
  const [old, recent] = ['dist/old', 'dist/recent'].map((name) => join(root, name));
  const hoursAgo = (hours: number) => new Date(Date.now() - hours * 3_600_000);
  for (const [directory, hours] of [
    [old!, 25],
    [recent!, 23],
  ] as const) {
    mkdirSync(directory, { recursive: true });
    utimesSync(directory, hoursAgo(hours), hoursAgo(hours));
  }
  build();
  expect([existsSync(old!), existsSync(recent!)]).toEqual([false, true]);
});

test('uses a build after a test has changed', () => {
  build();
  write('shared/part.test.ts', '');
  expect(run('cli/main.ts')).toEqual([locations(), 'built']);
});

test('loads the version of a package that the workspace has', () => {
  for (const [folder, version] of [
    ['node_modules', 1],
    ['shared/node_modules', 2],
  ] as const) {
    write(`${folder}/versioned/package.json`, '{ "type": "module", "exports": "./index.js" }');
    write(`${folder}/versioned/index.js`, `export const version = ${version};`);
  }
  write('shared/part.ts', `import { version } from 'versioned'; console.log('shared', version);`);
  write(
    'cli/program.ts',
    `import '@tocsin/shared/part.ts'; import { version } from 'versioned'; console.log('cli', version);`,
  );
  expect(run('cli/main.ts')).toEqual(['shared 2', 'cli 1']);
  build();
  expect(run('cli/main.ts')).toEqual(['shared 2', 'cli 1']);
});

test('lets packages find the files next to their own', () => {
  write('node_modules/native/package.json', '{}');
  write('node_modules/native/lib/index.js', 'exports.files = [__dirname, __filename];');
  write('node_modules/native/index.js', `module.exports = require('./lib/index.js');`);
  write('shared/part.ts', `import native from 'native'; console.log(native.files.join());`);
  const folder = join(root, 'node_modules/native/lib');
  build();
  expect(run('cli/main.ts')).toEqual([`${folder},${join(folder, 'index.js')}`, 'built']);
});

test.each(['bson', 'kafkajs', 'mongodb'])('uses the instance of %s that patches change', (name) => {
  write(`node_modules/${name}/package.json`, '{}');
  write(`node_modules/${name}/index.js`, 'exports.isPatched = false;');
  write(
    'shared/part.ts',
    `import { createRequire } from 'node:module';
    import library from '${name}';
    createRequire(import.meta.url)('${name}').isPatched = true;
    console.log(library.isPatched);`,
  );
  build();
  expect(run('cli/main.ts')).toEqual(['true', 'built']);
});

test('reports sources that cannot be built, and leaves no directory', () => {
  write('cli/program.ts', `import './missing.ts';`);
  expect(build).toThrow(/Could not build the programs, which run from their sources: .*missing\.ts/s);
  expect(readdirSync(join(root, 'dist'))).toEqual([]);
});
