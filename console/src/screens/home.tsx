import { useEffect } from 'preact/hooks';
import { Link, useLocation } from 'wouter-preact';
import { openStream } from '../api/stream.ts';
import type { Message, Subscription, Topic } from '../api/wire.ts';
import { Section } from '../parts/card.tsx';
import { Form, type FormValues } from '../parts/form.tsx';
import { Icon } from '../parts/icon.tsx';
import { Loading } from '../parts/loading.tsx';
import { timeAgo } from '../parts/time/times.ts';
import { useLoad } from '../parts/use-load.ts';
import { topicPath } from '../parts/paths.ts';
import { UnreadCount } from '../parts/unread-count.tsx';
import { noticeWaiting, refreshWaiting, waiting } from '../state/waiting.ts';
import { WaitingList } from './topic/ack/waiting-list.tsx';
import { countMessage, inbox, loadInbox } from '../state/inbox.ts';
import { createTopic } from '../state/create-topic.ts';
import { topicErrorFields, TopicFields, topicOfForm } from './topic/topic-fields.tsx';
import { TopicList } from './topic/topic-list.tsx';

/** The limit of one stream. */
const streamedMax = 100;

/** Subscriptions with unread counts, own topics and topics of teams. */
export function Home() {
  const { loaded, reload } = useLoad(loadInbox, 'inbox');
  return (
    <div class="page">
      <h1>Home</h1>
      <Loading loaded={inbox.value === null ? loaded : { state: 'done', value: undefined }} retry={reload} rows={6}>
        {() => <Topics />}
      </Loading>
    </div>
  );
}

function Topics() {
  const { subscriptions, topics, newest } = inbox.value!;
  useLiveCounts(subscriptions);
  const others = topics.filter(({ id }) => !subscriptions.some(({ topic_id }) => topic_id === id));
  const own = others.filter(({ team_id }) => team_id === null);
  const ofTeams = others.filter(({ team_id }) => team_id !== null);
  if (subscriptions.length === 0 && topics.length === 0) return <FirstRun />;
  return (
    <>
      <WaitingList waiting={waiting.value} reload={refreshWaiting} onAck={() => undefined} showsTopic />
      {subscriptions.length > 0 && (
        <Section title="Subscriptions">
          <ul class="topic-list">
            {subscriptions.map((one) => (
              <SubscriptionLine key={one.id} subscription={one} newest={newest.get(one.topic_id)} />
            ))}
          </ul>
        </Section>
      )}
      {own.length > 0 && <TopicSection title="Your topics" topics={own} />}
      {ofTeams.length > 0 && <TopicSection title="Topics of your teams" topics={ofTeams} />}
      <NewTopic />
    </>
  );
}

function NewTopic() {
  return (
    <details class="section create">
      <summary>
        <Icon name="plus" />
        Create a topic
      </summary>
      <CreateTopic />
    </details>
  );
}

/** Keeps the counts up to date while the page is open. */
function useLiveCounts(subscriptions: readonly Subscription[]): void {
  const names = subscriptions.slice(0, streamedMax).map(({ topic_name }) => topic_name);
  useEffect(() => {
    if (names.length === 0) return undefined;
    return openStream(
      names,
      {},
      {
        onState: () => undefined,
        onMessage(message) {
          countMessage(message);
          noticeWaiting(message);
        },
        onChanged: noticeWaiting,
        onDeleted: noticeWaiting,
      },
    );
  }, [names.toSorted().join()]);
}

interface SubscriptionLineProps {
  readonly subscription: Subscription;
  readonly newest: Message | undefined;
}

function SubscriptionLine({ subscription, newest }: SubscriptionLineProps) {
  const { topic_name: name, unread_count: unread, topic_last_message_at: lastAt } = subscription;
  return (
    <li class={unread > 0 ? 'has-unread' : ''}>
      <Link href={topicPath(name)}>
        <Icon name={subscription.access_level === 'PRIVATE' ? 'lock' : 'hash'} />
        <span class="topic-list-name">{name}</span>
      </Link>
      <span class="topic-list-text soft" dir="auto">
        {newest === undefined ? subscription.topic_description : (newest.title ?? newest.message)}
      </span>
      {unread > 0 && <UnreadCount count={unread} />}
      <span class="topic-list-time soft">{lastAt === null ? 'no messages' : timeAgo(lastAt)}</span>
    </li>
  );
}

function TopicSection({ title, topics }: { readonly title: string; readonly topics: readonly Topic[] }) {
  return (
    <Section title={title}>
      <TopicList topics={topics} />
    </Section>
  );
}

/** Long enough that the name of a public topic cannot be guessed. */
const randomLength = 12;

function randomName(): string {
  const letters = 'abcdefghijkmnpqrstuvwxyz23456789';
  const random = [...crypto.getRandomValues(new Uint8Array(randomLength))];
  return `hello-${random.map((byte) => letters[byte % letters.length]).join('')}`;
}

/** One click to a topic whose page shows how to publish to it. */
function FirstRun() {
  const [, navigate] = useLocation();
  return (
    <div class="first-run">
      <section class="card">
        <h2>Send your first notification</h2>
        <p class="soft">
          A topic is a channel: anything that can send an HTTP request publishes to it, and you read it here, live.
        </p>
        <Form
          action="Create my first topic"
          send={async () => navigate(topicPath(await createTopic({ name: randomName() })))}
        />
        <p class="soft">Anyone who knows its random name can read it and publish to it.</p>
      </section>
      <NewTopic />
    </div>
  );
}

function CreateTopic() {
  const [, navigate] = useLocation();
  const send = async (values: FormValues) => {
    const name = await createTopic(topicOfForm(values));
    navigate(topicPath(name));
  };
  return (
    <Form action="Create topic" send={send} errorFields={topicErrorFields}>
      <TopicFields />
    </Form>
  );
}
