import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { openDocuments } from '@tocsin/shared/open-engine.ts';
import { openLogger } from '@tocsin/shared/platform/logger.ts';
import { pushQueues } from '@tocsin/shared/domain/push/push-job.ts';
import type { Message } from '@tocsin/shared/domain/messages/message.ts';
import type { Topic } from '@tocsin/shared/domain/topics/topic.ts';
import type { Documents } from '@tocsin/shared/ports/documents.ts';
import type { Engine } from '@tocsin/shared/ports/engine.ts';
import type { Closers } from '@tocsin/shared/platform/lifecycle.ts';
import { topics } from '@tocsin/shared/collections/topics.ts';
import { newId, newMessage, newTopic } from '@tocsin/shared/testing/builders.ts';
import type { TestEngines } from '@tocsin/shared/testing/describe-with-engines.ts';
import { newTestPlace, openTestEngine, publish } from '@tocsin/shared/testing/test-engine.ts';
import { whenAvailable } from '@tocsin/shared/testing/when-available.ts';
import { builtProgram } from '../../tools/stack/built-program.ts';

const main = fileURLToPath(new URL('../../services/notifier/main.ts', import.meta.url));

/** Concurrent jobs of a separate notifier, per queue (docs/decisions/0063). */
export const pushJobsMax = { firstPages: 32, laterPages: 4 };

/** A new installation with a separate notifier process. */
export interface PushPlace {
  /** `env` contains the providers' addresses. The notifier is killed at the end of the test at the latest. */
  startNotifier(env: Readonly<Record<string, string>>): ChildProcess;
  /** The document store, also while a notifier runs. Closed at the end of the test. */
  documents(): Promise<Documents>;
  /** The number of waiting and active jobs in the push queues, also while a notifier runs. */
  jobsLeft(): Promise<number>;
  /** The stores; on the embedded engine only while no notifier runs. */
  withEngine<T>(use: (engine: Engine) => Promise<T>): Promise<T>;
}

export function newPushPlace(engines: TestEngines | undefined, own: Closers): PushPlace {
  const place = newTestPlace(engines);
  own.add(() => place.remove());
  const open = async () => {
    const store = await openDocuments(place.config, openLogger('test', 'silent'));
    own.add(() => store.close());
    return { documents: store.documents, jobQueue: await store.openJobQueue() };
  };
  let stores: ReturnType<typeof open> | undefined;
  const openStores = () => (stores ??= whenAvailable(open));
  return {
    documents: async () => (await openStores()).documents,
    startNotifier(env) {
      const child = spawn(process.execPath, [builtProgram(main)], {
        env: { ...process.env, ...place.env, ...env },
        stdio: ['ignore', 'inherit', 'inherit'],
      });
      own.add(() => void child.kill('SIGKILL'));
      return child;
    },
    async jobsLeft() {
      const { jobQueue } = await openStores();
      const counts = await Promise.all(Object.values(pushQueues).map((queue) => jobQueue.counts(queue)));
      return counts.reduce((sum, { waiting, delayed, active }) => sum + waiting + delayed + active, 0);
    },
    async withEngine(use) {
      const engine = await openTestEngine(place);
      try {
        return await use(engine);
      } finally {
        await engine.close();
      }
    },
  };
}

/** Ends a process and resolves with its exit code and signal. */
export async function endProcess(child: ChildProcess, signal: NodeJS.Signals): Promise<unknown[]> {
  const gone = once(child, 'exit');
  child.kill(signal);
  return gone;
}

export const addTopic = (engine: Engine): Promise<Topic> => engine.documents.insert(topics, newTopic(newId()));

/** Publishes a message to the topic and resolves with it. */
export async function publishTo(engine: Engine, topic: Topic, given: Partial<Message>): Promise<Message> {
  const message = newMessage(topic.id, given);
  await publish(engine, topic, message);
  return message;
}
