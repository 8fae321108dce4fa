import { useState } from 'preact/hooks';
import { Link } from 'wouter-preact';
import { call } from '../../api/call.ts';
import { session } from '../../api/session.ts';
import type { ConnectionState } from '../../api/stream.ts';
import type { Topic } from '../../api/wire.ts';
import { Icon } from '../../parts/icon.tsx';
import {
  notificationsPath,
  scheduledPath,
  topicActivityPath,
  topicLogPath,
  topicSettingsPath,
} from '../../parts/paths.ts';
import { toast, toastError } from '../../parts/toasts.tsx';
import { inbox, loadInbox, subscriptionTo } from '../../state/inbox.ts';

const stateTexts: Readonly<Record<ConnectionState, string>> = {
  connecting: 'connecting …',
  live: 'live',
  reconnecting: 'reconnecting …',
  ended: 'ended',
};

interface TopicHeaderProps {
  readonly topic: Topic;
  readonly state: ConnectionState;
  readonly reason: string | null;
}

export function TopicHeader({ topic, state, reason }: TopicHeaderProps) {
  return (
    <header class="topic-head">
      <div class="topic-title">
        <h1 class="topic-name">{topic.name}</h1>
        <span class="badge">
          <Icon name={topic.access_level === 'private' ? 'lock' : 'globe'} />
          {topic.access_level}
        </span>
        <span class={`connection ${state}`} role="status">
          {stateTexts[state]}
        </span>
        <span class="grow" />
        <div class="topic-actions">
          <Link class="button" href={topicLogPath(topic.name)}>
            <Icon name="list" />
            Log
          </Link>
          {session.value !== null && (
            <>
              <Link class="button" href={topicActivityPath(topic.name)}>
                <Icon name="bars" />
                Activity
              </Link>
              <Link class="button" href={scheduledPath(topic.name)}>
                <Icon name="clock" />
                Scheduled
              </Link>
            </>
          )}
          {subscriptionTo(topic.id) !== undefined && (
            <Link class="button" href={notificationsPath(topic.name)}>
              <Icon name="push" />
              Notifications
            </Link>
          )}
          {topic.can_manage && (
            <Link class="button" href={topicSettingsPath(topic.name)}>
              <Icon name="settings" />
              Settings
            </Link>
          )}
          {session.value !== null && <SubscribeButton topic={topic} />}
        </div>
      </div>
      {topic.description !== '' && (
        <p class="soft" dir="auto">
          {topic.description}
        </p>
      )}
      {reason !== null && (
        <p class="note bad" role="alert">
          The live connection ended: {reason}
        </p>
      )}
    </header>
  );
}

function SubscribeButton({ topic }: { readonly topic: Topic }) {
  const [isBusy, setBusy] = useState(false);
  if (inbox.value === null) return null;
  const subscription = subscriptionTo(topic.id);
  const isMandatory = subscription?.mandatory === true;
  const change = async () => {
    setBusy(true);
    try {
      if (subscription === undefined) await call('POST', '/api/subscriptions', { json: { topic_name: topic.name } });
      else await call('DELETE', `/api/subscriptions/${subscription.id}`);
      await loadInbox();
      toast(subscription === undefined ? `Subscribed to ${topic.name}.` : `Unsubscribed from ${topic.name}.`);
    } catch (error) {
      toastError(error);
    } finally {
      setBusy(false);
    }
  };
  return (
    <button
      type="button"
      class="button"
      disabled={isBusy || isMandatory}
      title={isMandatory ? 'This subscription is set by the team.' : undefined}
      onClick={() => void change()}
    >
      <Icon name={subscription === undefined ? 'plus' : 'check'} />
      {subscription === undefined ? 'Subscribe' : isMandatory ? 'Set by the team' : 'Subscribed'}
    </button>
  );
}
