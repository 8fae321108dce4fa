import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { Topic } from '@tocsin/shared/domain/topics/topic.ts';
import type { NewJob } from '@tocsin/shared/ports/job-queue.ts';
import { newMessage } from '@tocsin/shared/testing/builders.ts';
import { engineUnderTest, enginesUnderTest } from '@tocsin/shared/testing/test-engine.ts';
import { expandMessages, recipientLookup, type ExpandDeps } from './expand-message.ts';
import { openPushInstallation, type PushInstallation } from './push-installation.fixtures.ts';

describe(`expand messages to jobs, ${engineUnderTest}`, () => {
  let at: PushInstallation;
  let hasRecipients: ExpandDeps['hasRecipients'];
  beforeEach(async () => {
    at = await openPushInstallation(enginesUnderTest());
    hasRecipients = recipientLookup(at.engine);
  });
  afterEach(() => at.close());

  /** Returns the IDs of messages with jobs after a batch of one message per topic. */
  async function expand(...topics: Topic[]): Promise<string[]> {
    const jobs: NewJob[] = [];
    const jobQueue = {
      add: async (_queue: string, added: readonly NewJob[]) => void jobs.push(...added),
      hasRoom: () => Promise.resolve(true),
    };
    const records = topics.map((topic, offset) => {
      const message = newMessage(topic.id, { id: `message-of-${topic.id}` });
      return { partition: 0, offset, record: { type: 'message' as const, timestamp: message.timestamp, message } };
    });
    await expandMessages(
      {
        clock: at.clock,
        documents: at.engine.documents,
        jobQueue,
        hasRecipients,
      },
      { records, signal: new AbortController().signal },
    );
    return jobs.map(({ data }) => String(data['messageId']));
  }

  test('adds no job for a topic without mobile subscribers, and one for a topic subscribed to since the last batch', async () => {
    const [empty, muted, wanted] = [await at.addTopic(), await at.addTopic(), await at.addTopic()];
    await at.addSubscriber(muted, { subscription: { mobileEnabled: false, webEnabled: false } });
    await at.addSubscriber(wanted);
    expect(await expand(empty, muted, wanted)).toEqual([`message-of-${wanted.id}`]);
    await at.addSubscriber(empty);
    expect(await expand(empty, muted, wanted)).toEqual([`message-of-${empty.id}`, `message-of-${wanted.id}`]);
  });
});
