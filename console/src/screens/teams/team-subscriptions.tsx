import { useState } from 'preact/hooks';
import { Link } from 'wouter-preact';
import { call } from '../../api/call.ts';
import type { TeamSubscription, TeamWithMembers, Topic } from '../../api/wire.ts';
import { Section } from '../../parts/card.tsx';
import { ConfirmDialog } from '../../parts/confirm-dialog.tsx';
import { Checkbox, Field, Form, Select, type FormValues } from '../../parts/form.tsx';
import { Loading } from '../../parts/loading.tsx';
import { topicPath } from '../../parts/paths.ts';
import { priorities } from '../topic/notifications/priorities.ts';
import { toast } from '../../parts/toasts.tsx';
import { useLoad } from '../../parts/use-load.ts';
import { loadInbox } from '../../state/inbox.ts';
import { actOnTeam } from './act-on-team.ts';
import { loadTopics } from './team-topics.tsx';

interface TeamSubscriptionsProps {
  readonly team: TeamWithMembers;
  readonly reloadTeam: () => Promise<void>;
}

/** The subscriptions that the team sets for its members, for its managers. */
export function TeamSubscriptions({ team, reloadTeam }: TeamSubscriptionsProps) {
  const path = `/api/teams/${team.id}/subscriptions`;
  const { loaded, reload } = useLoad(async () => {
    const [made, { topics }] = await Promise.all([call<TeamSubscription[]>('GET', path), loadTopics(team)]);
    return { made, topics };
  }, `${team.id} ${team.my_role}`);
  const reloadAll = async () => {
    // The account can be one of the members.
    await Promise.all([reload(), reloadTeam(), loadInbox().catch(() => undefined)]);
  };
  return (
    <Section
      title="Team subscriptions"
      hint="Subscribes members to topics of the team. A member cannot end a mandatory one, nor get fewer pushes than it sets; quiet hours stay the member's."
    >
      <Loading loaded={loaded} retry={reload} rows={2}>
        {({ made, topics }) => (
          <>
            <List team={team} made={made} reload={reloadAll} />
            {team.is_active && topics.length > 0 && (
              <details class="create">
                <summary>Subscribe members …</summary>
                <Create team={team} topics={topics} path={path} reload={reloadAll} />
              </details>
            )}
          </>
        )}
      </Loading>
    </Section>
  );
}

interface ListProps {
  readonly team: TeamWithMembers;
  readonly made: readonly TeamSubscription[];
  readonly reload: () => Promise<void>;
}

function List({ team, made, reload }: ListProps) {
  const [ending, setEnding] = useState<TeamSubscription | null>(null);
  const end = async ({ id, topic_name }: TeamSubscription) => {
    const isDone = await actOnTeam(() => call('DELETE', `/api/teams/${team.id}/subscriptions/${id}`), reload);
    if (isDone) toast(`The team subscription to ${topic_name} has ended.`);
  };
  if (made.length === 0) return <p class="soft">The team has not subscribed its members to a topic.</p>;
  return (
    <>
      <ul class="rows">
        {made.map((one) => (
          <li key={one.id}>
            <div class="grow">
              <div class="row-title">
                <Link href={topicPath(one.topic_name)}>{one.topic_name}</Link>
                {one.mandatory && <span class="badge manager">mandatory</span>}
              </div>
              <div class="soft">{summaryOf(team, one)}</div>
            </div>
            <div class="row-actions">
              <button
                type="button"
                class="button"
                aria-label={`End the team subscription to ${one.topic_name}`}
                onClick={() => setEnding(one)}
              >
                End
              </button>
            </div>
          </li>
        ))}
      </ul>
      {ending !== null && (
        <ConfirmDialog
          title={`End the team subscription to ${ending.topic_name}?`}
          action="End it"
          run={() => end(ending)}
          onClose={() => setEnding(null)}
        >
          <p>Members whom it subscribed are unsubscribed. Subscriptions that members had before stay theirs.</p>
        </ConfirmDialog>
      )}
    </>
  );
}

function summaryOf(team: TeamWithMembers, made: TeamSubscription): string {
  const { priority_threshold: threshold, tags_filter: tags, max_per_minute: most } = made.mobile_notification_settings;
  return [
    made.members === 'all' ? 'all members' : namesOf(team, made.members),
    `${made.subscriber_count} subscribed`,
    priorities[threshold - 1]![1].toLowerCase(),
    ...(tags.length > 0 ? [`tags ${tags.join(', ')}`] : []),
    ...(most === undefined ? [] : [`at most ${most} per minute`]),
  ].join(' · ');
}

/** Names listed before the rest is counted. */
const namesMax = 3;

function namesOf({ members }: TeamWithMembers, userIds: readonly string[]): string {
  const names = members.filter(({ user_id }) => userIds.includes(user_id)).map(({ username }) => username);
  const rest = userIds.length - namesMax;
  return rest > 0 ? `${names.slice(0, namesMax).join(', ')} and ${rest} more` : names.join(', ');
}

interface CreateProps {
  readonly team: TeamWithMembers;
  readonly topics: readonly Topic[];
  readonly path: string;
  readonly reload: () => Promise<void>;
}

function Create({ team, topics, path, reload }: CreateProps) {
  const [isForAll, setForAll] = useState(true);
  const create = async (values: FormValues) => {
    const named = team.members.map(({ user_id }) => user_id).filter((id) => values.isChecked(`member-${id}`));
    if (!isForAll && named.length === 0) throw new Error('Choose at least one member.');
    const json = {
      topic_name: values.text('topic_name'),
      members: isForAll ? 'all' : named,
      mandatory: values.isChecked('mandatory'),
      mobile_notification_settings: {
        priority_threshold: Number(values.text('team_priority')),
        tags_filter: values.text('team_tags').split(','),
      },
    };
    const isDone = await actOnTeam(() => call('POST', path, { json }), reload);
    if (isDone) toast(`Members are subscribed to ${json.topic_name}.`);
  };
  return (
    <Form action="Subscribe members" send={create} errorFields={{ 'Topic not found': 'topic_name' }}>
      <div class="columns">
        <Select id="topic_name" label="Topic" options={topics.map(({ name }) => [name, name] as const)} />
        <Select
          id="covered"
          label="Members"
          options={[
            ['all', 'All, also those who join later'],
            ['some', 'Chosen members'],
          ]}
          onChange={(value) => setForAll(value === 'all')}
        />
        <Select id="team_priority" label="Priority" options={priorities} value="1" />
        <Field id="team_tags" label="Tags" autocomplete="off" hint="Separated by commas. Empty: any tags or none." />
      </div>
      {!isForAll && (
        <fieldset class="chosen-members">
          <legend>Chosen members</legend>
          {team.members.map(({ user_id, username }) => (
            <Checkbox key={user_id} id={`member-${user_id}`} label={username} />
          ))}
        </fieldset>
      )}
      <Checkbox id="mandatory" label="Mandatory: members cannot end it or get fewer pushes" />
    </Form>
  );
}
