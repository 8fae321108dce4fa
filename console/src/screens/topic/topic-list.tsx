import { Link } from 'wouter-preact';
import type { Topic } from '../../api/wire.ts';
import { Icon } from '../../parts/icon.tsx';
import { topicPath } from '../../parts/paths.ts';
import { timeAgo } from '../../parts/time/times.ts';

/** Topics with links to their pages. */
export function TopicList({ topics }: { readonly topics: readonly Topic[] }) {
  return (
    <ul class="topic-list">
      {topics.map((topic) => (
        <li key={topic.id}>
          <Link href={topicPath(topic.name)}>
            <Icon name={topic.access_level === 'private' ? 'lock' : 'hash'} />
            <span class="topic-list-name">{topic.name}</span>
          </Link>
          <span class="topic-list-text soft" dir="auto">
            {topic.description}
          </span>
          <span class="topic-list-time soft">
            {topic.last_message_at === null ? 'no messages' : timeAgo(topic.last_message_at)}
          </span>
        </li>
      ))}
    </ul>
  );
}
