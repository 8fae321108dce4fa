import { expect, test } from '@jest/globals';
import { clockFindings, findingsOf } from '../../platform/finding.ts';
import { replicaFindings, topicSettingFindings } from './kafka/inspect-kafka.ts';
import { redisSettingFindings } from './redis/inspect-redis.ts';

const found = findingsOf('part');
const states = (findings: readonly { state: string }[]) => findings.map(({ state }) => state);

test('reports a Redis that evicts jobs as a fault, and one without persistence as a warning', () => {
  expect(redisSettingFindings(found, { policy: 'noeviction', appendOnly: 'yes' })).toEqual([]);
  expect(states(redisSettingFindings(found, { policy: 'allkeys-lru', appendOnly: 'no' }))).toEqual([
    'fault',
    'warning',
  ]);
  expect(states(redisSettingFindings(found, { policy: undefined, appendOnly: undefined }))).toEqual(['warning']);
});

test('reports a log that loses or truncates records', () => {
  const settings = (more: Record<string, string> = {}) =>
    new Map(
      Object.entries({
        'cleanup.policy': 'delete',
        'message.timestamp.type': 'LogAppendTime',
        'retention.ms': String(6.5 * 86_400_000),
        ...more,
      }),
    );
  const of = (more?: Record<string, string>) =>
    topicSettingFindings(found, { topic: 't', retentionDays: 7 }, settings(more));
  expect(of()).toEqual([]);
  expect(of({ 'retention.ms': '-1' })).toEqual([]);
  expect(states(of({ 'cleanup.policy': 'compact' }))).toEqual(['fault']);
  expect(of({ 'retention.ms': '3600000' })).toMatchObject([
    { state: 'warning', text: expect.stringContaining('0.04 days, KAFKA_RETENTION_DAYS is 7') },
  ]);
  expect(states(of({ 'message.timestamp.type': 'CreateTime' }))).toEqual(['warning']);
});

test('reports partitions without a leader as a fault, and out-of-sync replicas as a warning', () => {
  const partition = (isr: number[], leader = 1) => ({
    partitionErrorCode: 0,
    partitionId: 0,
    leader,
    replicas: [1, 2, 3],
    isr,
  });
  expect(states(replicaFindings(found, 't', { partitions: [partition([1, 2, 3])] }))).toEqual(['ok']);
  expect(states(replicaFindings(found, 't', { partitions: [partition([1, 2, 3]), partition([1])] }))).toEqual([
    'warning',
  ]);
  expect(states(replicaFindings(found, 't', { partitions: [partition([1, 2, 3]), partition([], -1)] }))).toEqual([
    'fault',
  ]);
});

test('compares clocks with the time of the read', () => {
  expect(clockFindings(found, 1_500, [1_000, 2_000])).toEqual([]);
  expect(clockFindings(found, 2_900, [1_000, 2_000])).toEqual([]);
  expect(clockFindings(found, 9_500, [1_000, 2_000])).toMatchObject([
    { state: 'warning', text: expect.stringContaining('7.5 s ahead of') },
  ]);
  expect(clockFindings(found, 1_000, [90_000, 91_000])).toMatchObject([
    { state: 'fault', text: expect.stringContaining('89.0 s behind') },
  ]);
});
