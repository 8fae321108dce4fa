import type { Recorded } from './audit-entries.ts';
import { by } from './audit-sources.ts';
import { made } from './stack.ts';
import type { Person } from './use-stack.ts';

type TopicOf = () => Promise<{ person: Person; topic: { id: string; name: string } }>;

/** The audited changes of a topic's settings, with their entries. */
export function topicSettingActs(topicOf: TopicOf) {
  /** Changes a topic twice, the second time without effect on the settings that the log records. */
  const changeOf = async (settings: object, details: object): Promise<Recorded> => {
    const { person, topic } = await topicOf();
    await made(person.patch(`/api/topics/${topic.id}`, settings));
    await made(person.patch(`/api/topics/${topic.id}`, { description: 'changed', ...settings }));
    return { ...by(person), subject: { type: 'topic', ...topic }, details };
  };
  return {
    'topic.access_changed': () =>
      changeOf({ access_level: 'private' }, { access_level: 'private', former_access_level: 'public' }),
    'topic.retention_changed': () =>
      changeOf({ retention_days: 2 }, { retention_days: 2, former_retention_days: null }),
    'topic.archive_changed': () => changeOf({ archive: false }, { archive: false }),
  };
}
