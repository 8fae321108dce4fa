import { expect, test } from '@jest/globals';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { mongoParameters, replicaSet } from '../engines/mongo-replica-set.ts';
import { nodeFlags } from '../stack/start-stack.ts';
import { images } from './start-container-engines.ts';

const root = join(import.meta.dirname, '..', '..');
const threeBrokers = 'docker-compose.three-brokers.yml';
const read = (file: string) => readFileSync(join(root, file), 'utf8');

test('the tests run the images of docker-compose.yml', () => {
  const composed = [...read('docker-compose.yml').matchAll(/^ {4}image: (.+)$/gm)].map(([, image]) => image);
  expect(composed).toEqual(Object.values(images));
});

test('MongoDB runs with the same parameters everywhere', () => {
  const [, command] = /command: (\["mongod".+\])/.exec(read('docker-compose.yml'))!;
  expect(JSON.parse(command!)).toEqual(['mongod', '--replSet', replicaSet, '--bind_ip_all', ...mongoParameters]);
});

test('limits the rights and the memory of each container', () => {
  const [, service] = /x-service: &service\n([\s\S]*?)\n\S/.exec(read('docker-compose.yml'))!;
  for (const line of ['user: node', 'read_only: true', 'tmpfs: [/tmp]', 'pids_limit: 256'])
    expect(service).toContain(`\n  ${line}\n`);
  const containers = [
    service!,
    ...read('docker-compose.yml')
      .split(/\n(?= {2}\w+:\n {4}image: )/)
      .slice(1),
    ...read(threeBrokers)
      .split(/\n(?=x-broker: )/)
      .slice(1),
  ];
  expect(containers).toHaveLength(2 + Object.keys(images).length);
  for (const container of containers) {
    expect(container).toContain('security_opt: ["no-new-privileges:true"]\n');
    expect(container).toContain('cap_drop: [ALL]\n');
    expect(container).toMatch(/^ +mem_limit: /m);
  }
});

test('three brokers have the settings of the single one, with replicas that survive the loss of one broker', () => {
  const three = read(threeBrokers);
  expect([...three.matchAll(/^ +image: (.+)$/gm)].map(([, image]) => image)).toEqual([images.kafka]);
  const [, one] = /\n {2}kafka:\n[\s\S]*? {4}environment:\n([\s\S]*?)\n {4}volumes:/.exec(read('docker-compose.yml'))!;
  const settings = [...one!.matchAll(/^ {6}(KAFKA_[A-Z_]+): (.+)$/gm)].map(([, name, value]) => ({
    name: name!,
    value: value!,
  }));
  expect(settings.length).toBeGreaterThan(10);
  const { quorum, environment } =
    /x-quorum: &quorum\n(?<quorum>[\s\S]*?)\n\n[\s\S]*x-broker-environment: &broker-environment\n(?<environment>[\s\S]*?)\n\n/.exec(
      three,
    )!.groups!;
  for (const { name, value } of settings) {
    if (/QUORUM_VOTERS|REPLICATION_FACTOR|MIN_ISR/.test(name))
      expect(quorum).toMatch(new RegExp(`^ {2}${name}: (3|2|1@kafka:9093,2@kafka-2:9093,3@kafka-3:9093)$`, 'm'));
    else if (!/NODE_ID|ADVERTISED/.test(name)) expect(environment).toContain(`\n  ${name}: ${value}`);
  }
  expect(quorum).toContain('\n  KAFKA_MIN_INSYNC_REPLICAS: 2');
  expect(three).toMatch(/^ {4}KAFKA_REPLICATION: 3$/m);
});

test('runs every service in its own container with the Node options of the tests', () => {
  const commands = [...read('docker-compose.yml').matchAll(/command: (\["node", .+\])/g)].map(
    ([, command]) => JSON.parse(command!) as string[],
  );
  const services = globSync('services/*/', { cwd: root })
    .map((dir) => basename(dir))
    .sort();
  expect(commands).toEqual(services.map((name) => ['node', ...(nodeFlags[name] ?? []), `services/${name}/main.ts`]));
});

test('`npm start`, the systemd unit and the image have the Node options of the tests', () => {
  const options = nodeFlags['tocsin']!.join(' ');
  const { scripts } = JSON.parse(read('package.json')) as { scripts: { start: string } };
  expect(scripts.start).toContain(`exec node ${options} `);
  expect(read('deploy/tocsin.service')).toContain(`/node ${options} `);
  const [, command] = /^CMD (.+)$/m.exec(read('Dockerfile'))!;
  expect(JSON.parse(command!)).toEqual(['node', ...nodeFlags['api']!, 'services/api/main.ts']);
});

test('the image installs the packages of every workspace that the lockfile names', () => {
  const lock = JSON.parse(read('package-lock.json')) as { packages: Record<string, { link?: boolean }> };
  const workspaces = Object.keys(lock.packages).filter((path) => path !== '' && !path.includes('node_modules/'));
  const copied = workspaces.filter((path) => read('Dockerfile').includes(`COPY ${path}/package.json ${path}/\n`));
  expect(copied).toEqual(workspaces);
  expect(workspaces.every((path) => existsSync(join(root, path, 'package.json')))).toBe(true);
});
