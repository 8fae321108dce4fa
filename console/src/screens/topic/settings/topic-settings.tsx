import { call } from '../../../api/call.ts';
import type { Topic } from '../../../api/wire.ts';
import { Note } from '../../../parts/card.tsx';
import { Loading } from '../../../parts/loading.tsx';
import { useLoad } from '../../../parts/use-load.ts';
import { TopicSubpage } from '../topic-subpage.tsx';
import { Escalation } from './escalation/escalation.tsx';
import { DeleteTopic } from './delete-topic.tsx';
import { Sinks } from './sinks/sinks.tsx';
import { TopicForm } from './topic-form.tsx';
import { TopicTokens } from './topic-tokens.tsx';

/** Settings, tokens and sinks of a topic, for accounts that can manage it. */
export function TopicSettings({ item: name }: { readonly item: string }) {
  const { loaded, reload } = useLoad(() => call<Topic>('GET', `/api/topics/${encodeURIComponent(name)}`), name);
  return (
    <TopicSubpage name={name} title="Topic settings">
      <Loading loaded={loaded} retry={reload} rows={6}>
        {(topic) =>
          topic.can_manage ? (
            <>
              <TopicForm topic={topic} onChanged={reload} />
              <Escalation topic={topic} />
              <TopicTokens topic={topic} />
              <Sinks topic={topic} />
              <DeleteTopic topic={topic} />
            </>
          ) : (
            <Note isBad text="Only the owner of the topic and the admins of its team can change it." />
          )
        }
      </Loading>
    </TopicSubpage>
  );
}
