import { call } from '../../api/call.ts';
import type { Team, Topic } from '../../api/wire.ts';
import { Section } from '../../parts/card.tsx';
import { Form, type FormValues } from '../../parts/form.tsx';
import { Loading } from '../../parts/loading.tsx';
import { toast } from '../../parts/toasts.tsx';
import { useLoad } from '../../parts/use-load.ts';
import { createTopic } from '../../state/create-topic.ts';
import { topicErrorFields, TopicFields, topicOfForm } from '../topic/topic-fields.tsx';
import { TopicList } from '../topic/topic-list.tsx';

const pageSize = 100;
/** Pages of the topic list that are searched for the team's topics. */
const pagesMax = 10;

interface Found {
  readonly topics: readonly Topic[];
  readonly isComplete: boolean;
}

/** Finds the team's topics in the list of all topics that the account reaches, by latest activity. */
export async function loadTopics({ id, my_role }: Team): Promise<Found> {
  // Topics of a team belong to its owner.
  const path = my_role === 'owner' ? '/api/topics/my' : '/api/topics';
  const topics: Topic[] = [];
  for (let page = 0; page < pagesMax; page++) {
    const found = await call<Topic[]>('GET', `${path}?limit=${pageSize}&offset=${page * pageSize}`);
    topics.push(...found.filter(({ team_id }) => team_id === id));
    if (found.length < pageSize) return { topics, isComplete: true };
  }
  return { topics, isComplete: false };
}

export function TeamTopics({ team }: { readonly team: Team }) {
  const { loaded, reload } = useLoad(() => loadTopics(team), `${team.id} ${team.my_role}`);
  const create = async (values: FormValues) => {
    const name = await createTopic({ ...topicOfForm(values), team_id: team.id });
    await reload();
    toast(`${name} is created.`);
  };
  return (
    <Section title="Topics">
      <Loading loaded={loaded} retry={reload} rows={2}>
        {({ topics, isComplete }) => (
          <>
            {topics.length === 0 ? <p class="soft">The team has no topics.</p> : <TopicList topics={topics} />}
            {!isComplete && (
              <p class="hint">Only topics among the {pageSize * pagesMax} with the latest activity are shown.</p>
            )}
          </>
        )}
      </Loading>
      {team.my_role !== 'member' && team.is_active && (
        <details class="create">
          <summary>Create a topic …</summary>
          <Form action="Create topic" send={create} clear errorFields={topicErrorFields}>
            <TopicFields />
            <p class="hint">
              All members read the topic and publish to it. It belongs to the team’s owner, whose tier limits the number
              of private topics.
            </p>
          </Form>
        </details>
      )}
    </Section>
  );
}
