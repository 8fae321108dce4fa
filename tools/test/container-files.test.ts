import { expect, test } from '@jest/globals';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { mongoParameters, replicaSet } from '../engines/mongo-replica-set.ts';
import { images } from './start-container-engines.ts';

const root = join(import.meta.dirname, '..', '..');
const read = (file: string) => readFileSync(join(root, file), 'utf8');

test('the tests run the images that docker-compose.yml runs', () => {
  const composed = [...read('docker-compose.yml').matchAll(/^ {4}image: (.+)$/gm)].map(([, image]) => image);
  expect(composed).toEqual(Object.values(images));
});

test('MongoDB runs with the same parameters everywhere', () => {
  const [, command] = /command: (\["mongod".+\])/.exec(read('docker-compose.yml'))!;
  expect(JSON.parse(command!)).toEqual(['mongod', '--replSet', replicaSet, '--bind_ip_all', ...mongoParameters]);
});

test('every service is a container of its own', () => {
  const commands = [...read('docker-compose.yml').matchAll(/command: \["node", "(.+)"\]/g)].map(([, file]) => file!);
  expect(commands).toEqual(
    globSync('services/*/', { cwd: root })
      .map((dir) => `${dir.replace(/\/$/, '')}/main.ts`)
      .sort(),
  );
});

test('the image installs the packages of every workspace that the lockfile names', () => {
  const lock = JSON.parse(read('package-lock.json')) as { packages: Record<string, { link?: boolean }> };
  const workspaces = Object.keys(lock.packages).filter((path) => path !== '' && !path.includes('node_modules/'));
  const copied = workspaces.filter((path) => read('Dockerfile').includes(`COPY ${path}/package.json ${path}/\n`));
  expect(copied).toEqual(workspaces);
  expect(workspaces.every((path) => existsSync(join(root, path, 'package.json')))).toBe(true);
});
