import { expect, test } from '@jest/globals';
import { kafkaContainerEnvironment, kafkaProperties } from './kafka-properties.ts';

const linesOf = (text: string) => text.trim().split('\n');

test('configures one node without replication and with a single vote', () => {
  const lines = linesOf(
    kafkaProperties({ nodeId: 1, brokerPort: 21_000, controllerPorts: [21_001], dataDir: '/tmp/k' }),
  );
  expect(lines).toEqual(
    expect.arrayContaining([
      'listeners=PLAINTEXT://127.0.0.1:21000,CONTROLLER://127.0.0.1:21001',
      'controller.quorum.voters=1@127.0.0.1:21001',
      'default.replication.factor=1',
      'min.insync.replicas=1',
      'log.dirs=/tmp/k',
    ]),
  );
});

test('configures three nodes with three replicas, two of them in sync, and separate ports', () => {
  const lines = linesOf(
    kafkaProperties({ nodeId: 3, brokerPort: 21_002, controllerPorts: [22_000, 22_001, 22_002], dataDir: '/tmp/k' }),
  );
  expect(lines).toEqual(
    expect.arrayContaining([
      'node.id=3',
      'listeners=PLAINTEXT://127.0.0.1:21002,CONTROLLER://127.0.0.1:22002',
      'controller.quorum.voters=1@127.0.0.1:22000,2@127.0.0.1:22001,3@127.0.0.1:22002',
      'offsets.topic.replication.factor=3',
      'min.insync.replicas=2',
    ]),
  );
});

test("the caller's settings override the defaults", () => {
  const properties = { 'min.insync.replicas': '1', 'log.retention.ms': '1000' };
  const lines = linesOf(
    kafkaProperties({ nodeId: 1, brokerPort: 1, controllerPorts: [2, 3, 4], dataDir: '/tmp/k', properties }),
  );
  expect(lines.filter((line) => line.startsWith('min.insync.replicas'))).toEqual(['min.insync.replicas=1']);
  expect(lines).toContain('log.retention.ms=1000');
});

test('passes the same settings to a container as environment variables', () => {
  expect(kafkaContainerEnvironment('localhost:21000')).toMatchObject({
    KAFKA_ADVERTISED_LISTENERS: 'PLAINTEXT://localhost:21000',
    KAFKA_AUTO_CREATE_TOPICS_ENABLE: 'false',
    KAFKA_GROUP_INITIAL_REBALANCE_DELAY_MS: '0',
  });
});
