import { inTopic, type Recorded } from './audit-entries.ts';
import { by } from './audit-sources.ts';
import { made } from './stack.ts';
import type { Person } from './use-stack.ts';

type TopicOf = () => Promise<{ person: Person; topic: { id: string; name: string } }>;

/** The audited actions on sinks, with their entries. */
export function sinkActs(topicOf: TopicOf) {
  const sinkOf = async () => {
    const { person, topic } = await topicOf();
    const path = `/api/topics/${topic.id}/sinks`;
    const { id } = await made(
      person.post(path, { name: 'tickets', kind: 'webhook', url: 'https://hooks.example.com/' }),
    );
    const recorded = {
      ...by(person),
      subject: { type: 'sink', id: id as string, name: 'tickets' },
      within: inTopic(topic),
    };
    return { person, path: `${path}/${id}`, recorded };
  };
  return {
    'sink.created': async (): Promise<Recorded> => ({ ...(await sinkOf()).recorded, details: { kind: 'webhook' } }),
    'sink.changed': async (): Promise<Recorded> => {
      const { person, path, recorded } = await sinkOf();
      await made(person.patch(path, { state: 'paused', headers: {} }));
      return { ...recorded, details: { fields: ['headers', 'state'] } };
    },
    'sink.deleted': async (): Promise<Recorded> => {
      const { person, path, recorded } = await sinkOf();
      await made(person.delete(path));
      return recorded;
    },
  };
}
