import type { ComponentChildren } from 'preact';
import { Link } from 'wouter-preact';
import { topicPath } from '../../parts/paths.ts';

interface TopicSubpageProps {
  readonly name: string;
  readonly title: string;
  readonly children: ComponentChildren;
}

/** A page about one aspect of a topic, with a link back to it. */
export function TopicSubpage({ name, title, children }: TopicSubpageProps) {
  return (
    <div class="page settings-page">
      <p class="links">
        <Link href={topicPath(name)}>Back to {name}</Link>
      </p>
      <h1>{title}</h1>
      {children}
    </div>
  );
}
