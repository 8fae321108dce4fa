import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually } from '@tocsin/shared/testing/eventually.ts';
import { engineState, startEngineProcess, type EngineProcess, type EngineProgram } from './engine-process.ts';
import { endOrphans, endRecorded, isRunning, readRecords, writeRecord } from './engine-records.ts';
import { freePorts, PortTakenError, startOnFreePorts } from './free-ports.ts';
import { portAccepts } from './port-accepts.ts';

// These tests need no installed engines: a small listening process represents an engine.
const listener = `
  const server = require('node:net').createServer().on('error', (error) => { console.log(error.message.replace('EADDRINUSE: ', '')); process.exit(1); });
  server.listen(Number(process.argv[1]), '127.0.0.1', () => console.log('listening'));
  process.on('SIGTERM', () => { console.log('clean end'); process.exit(0); });
`;

let dir: string;
const started: EngineProcess[] = [];

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'tocsin-engine-test-'));
  process.env.TOCSIN_ENGINES_DIR = dir;
});

afterEach(async () => {
  for (const engine of started.splice(0)) await engine.stop();
  rmSync(dir, { recursive: true });
});

const program = (port: number): EngineProgram => ({
  name: 'listener',
  url: `127.0.0.1:${port}`,
  file: process.execPath,
  args: ['-e', listener, String(port)],
  readyLine: 'listening',
  answers: () => portAccepts(port),
});

const start = async (options: { port?: number; dataDir?: string; outlives?: boolean } = {}) => {
  const port = options.port ?? (await freePorts(1))[0]!;
  const engine = await startEngineProcess(program(port), engineState('listener', options));
  started.push(engine);
  return { engine, port };
};

test('stops a started engine and removes its temporary state', async () => {
  const { engine, port } = await start();
  const stateDir = join(engine.logFile, '..');
  expect(await portAccepts(port)).toBe(true);
  await engine.stop();
  expect(await portAccepts(port)).toBe(false);
  expect(existsSync(stateDir)).toBe(false);
  expect(readRecords()).toEqual([]);
  await engine.stop();
});

test('stops an engine with a given directory cleanly and keeps the directory', async () => {
  const { engine } = await start({ dataDir: join(dir, 'state') });
  await engine.stop();
  expect(readFileSync(engine.logFile, 'utf8')).toContain('clean end');
});

test('kills an engine with SIGKILL and restarts it on the same port', async () => {
  const { engine, port } = await start();
  const { pid, logFile } = engine;
  await engine.kill();
  expect(await portAccepts(port)).toBe(false);
  expect(readFileSync(logFile, 'utf8')).not.toContain('clean end');
  await engine.restart();
  expect(engine.pid).not.toBe(pid);
  expect(await portAccepts(port)).toBe(true);
});

test('resumes, stops and kills a paused engine', async () => {
  const { engine } = await start();
  const state = () => /\) (\w)/.exec(readFileSync(`/proc/${engine.pid}/stat`, 'utf8'))?.[1];
  engine.pause();
  await eventually(() => state() === 'T');
  engine.resume();
  await eventually(() => state() !== 'T');
  engine.pause();
  await engine.restart();
  engine.pause();
  await engine.kill();
});

test('throws the end of the log if an engine exits while it starts', async () => {
  const dying = { ...program(0), args: ['-e', 'console.log("no disk"); process.exit(3)'] };
  await expect(startEngineProcess(dying, engineState('listener', {}))).rejects.toThrow('no disk');
});

test('throws if the program cannot be run', async () => {
  const missing = { ...program(0), file: join(dir, 'nothing') };
  await expect(startEngineProcess(missing, engineState('listener', {}))).rejects.toThrow('ENOENT');
});

test('retries with other ports if a port is taken', async () => {
  const { port } = await start();
  await expect(start({ port })).rejects.toBeInstanceOf(PortTakenError);
  let attempts = 0;
  const second = await startOnFreePorts(1, ([free]) => start({ port: ++attempts === 1 ? port : free! }));
  expect(second.port).not.toBe(port);
});

test('ends engines whose owner exited, but not those with a running owner', async () => {
  const { engine: orphan } = await start();
  const { engine: owned } = await start();
  const { engine: standing } = await start({ outlives: true });
  const record = readRecords().find(({ pid }) => pid === orphan.pid)!;
  writeRecord({ ...record, owner: { pid: process.pid, identity: 'an earlier process of that number' } });
  await endOrphans();
  const running = readRecords().filter(isRunning);
  expect(running.map(({ pid }) => pid).sort()).toEqual([owned.pid, standing.pid].sort());
});

test('removes a record whose pid belongs to another process, without ending that process', async () => {
  const { engine, port } = await start({ dataDir: join(dir, 'state') });
  const record = readRecords()[0]!;
  await endRecorded({ ...record, identity: 'an earlier process of that number' });
  expect(await portAccepts(port)).toBe(true);
  expect(readRecords()).toEqual([]);
  await engine.stop();
});

test('ignores a malformed record', async () => {
  await start();
  writeFileSync(join(dir, 'run', '1.json'), '{');
  expect(readRecords()).toHaveLength(1);
});
