import { useRef, useState } from 'preact/hooks';
import { call } from '../../../api/call.ts';
import type { Subscription } from '../../../api/wire.ts';
import { Note, Section } from '../../../parts/card.tsx';
import { Checkbox, Field, Form, FormValues, Select } from '../../../parts/form.tsx';
import { Loading } from '../../../parts/loading.tsx';
import { useLoad } from '../../../parts/use-load.ts';
import { loadInbox } from '../../../state/inbox.ts';
import { ThisBrowser } from '../../devices/this-browser.tsx';
import { priorities } from './priorities.ts';
import { TopicSubpage } from '../topic-subpage.tsx';
import { DigestFields } from './digest-fields.tsx';
import { DryRun } from './dry-run.tsx';
import { QuietHoursBar } from './quiet-hours-bar.tsx';
import { previewed, settingsOfForm, type ChangedNotifications } from './settings-of-form.ts';

/** Which messages of a topic reach the devices of the account. */
export function NotificationSettings({ item: name }: { readonly item: string }) {
  const find = async () => {
    const { subscriptions } = await call<{ subscriptions: Subscription[] }>('GET', '/api/subscriptions');
    return subscriptions.find(({ topic_name }) => topic_name === name) ?? null;
  };
  const { loaded, reload } = useLoad(find, name);
  return (
    <TopicSubpage name={name} title="Notifications">
      <Loading loaded={loaded} retry={reload} rows={6}>
        {(subscription) =>
          subscription === null ? (
            <Note isBad text={`Subscribe to ${name} first: only subscribers get pushes.`} />
          ) : (
            <Settings subscription={subscription} />
          )
        }
      </Loading>
    </TopicSubpage>
  );
}

const allowedPriorities: readonly (readonly [string, string])[] = [
  ['0', 'None'],
  ['5', 'Only highest'],
  ['4', 'High and highest'],
];

/** Shown in the form while the subscription has no quiet hours. */
const suggestedHours = { start: '22:00', end: '07:00', allow_priority: 5 };

/** The preview follows the form after the user paused for this time. */
const previewDelayMs = 400;

function Settings({ subscription }: { readonly subscription: Subscription }) {
  const settings = subscription.mobile_notification_settings;
  const bound = subscription.mandatory ? subscription.team_settings : null;
  const path = `/api/subscriptions/${subscription.id}`;
  const [draft, setDraft] = useState<ChangedNotifications | null>(null);
  const timer = useRef<ReturnType<typeof setTimeout>>();
  const follow = (event: Event) => {
    const form = (event.currentTarget as HTMLElement).querySelector('form')!;
    clearTimeout(timer.current);
    timer.current = setTimeout(() => setDraft(settingsOfForm(new FormValues(form))), previewDelayMs);
  };
  const save = async (values: FormValues) => {
    await call('PATCH', path, { json: settingsOfForm(values) });
    // The topic page shows the new settings at its next refresh.
    await loadInbox().catch(() => undefined);
    return 'Saved.';
  };
  const hours = draft === null ? (settings.quiet_hours ?? null) : draft.mobile_notification_settings.quiet_hours;
  return (
    <>
      <Section title="Pushes to your devices">
        {bound !== null && <SetByTeam bound={bound} />}
        <div class="follows-form" onInput={follow}>
          <Form action="Save" send={save}>
            <Checkbox
              id="mobile_notifications_enabled"
              label="Notify my phones and tablets"
              defaultChecked={subscription.mobile_notifications_enabled}
              disabled={bound !== null}
            />
            <Checkbox
              id="web_notifications_enabled"
              label="Notify my browsers"
              defaultChecked={subscription.web_notifications_enabled}
              disabled={bound !== null}
            />
            <FilterFields settings={settings} bound={bound} />
            <DigestFields settings={settings} longest={bound?.digest ?? null} />
            <LoudnessFields settings={settings} />
            <QuietHoursFields quiet={settings.quiet_hours ?? null} shown={hours ?? null} />
          </Form>
        </div>
      </Section>
      <DryRun path={`${path}/preview`} settings={previewed(draft ?? subscription)} />
      <ThisBrowser />
    </>
  );
}

/** How a push shows itself on phones. */
function LoudnessFields({ settings }: { readonly settings: Subscription['mobile_notification_settings'] }) {
  return (
    <>
      <Checkbox
        id="has_badge"
        label="Show the number of unread messages on the app’s icon"
        defaultChecked={settings.badge === 'unread'}
      />
      <Checkbox
        id="allow_critical"
        label="Let highest sound on a muted iPhone"
        defaultChecked={settings.allow_critical}
      />
    </>
  );
}

type TeamSettings = NonNullable<Subscription['team_settings']>;

function SetByTeam({ bound: { tags_filter: tags } }: { readonly bound: TeamSettings }) {
  return (
    <p class="soft">
      This subscription is set by the team. You cannot end it or turn its notifications off, and it pushes at least what
      the team chose.
      {tags.length > 0 && ` The team chose the tags ${tags.join(', ')}; you can add tags or remove all.`} Quiet hours
      are yours.
    </p>
  );
}

interface FilterProps {
  readonly settings: Subscription['mobile_notification_settings'];
  /** What a mandatory team subscription does not let the member exclude; null without one. */
  readonly bound: TeamSettings | null;
}

function FilterFields({ settings, bound }: FilterProps) {
  return (
    <div class="columns">
      <Select
        id="priority_threshold"
        label="Priority"
        options={priorities}
        value={String(settings.priority_threshold)}
        isDisabled={(option) => Number(option) > (bound?.priority_threshold ?? 5)}
      />
      <Field
        id="tags_filter"
        label="Tags"
        autocomplete="off"
        defaultValue={settings.tags_filter.join(', ')}
        disabled={bound?.tags_filter.length === 0}
        hint="Separated by commas. Empty: any tags or none."
      />
      <Field
        id="max_per_minute"
        label="At most per minute"
        type="number"
        min={bound?.max_per_minute ?? 1}
        max={1_000}
        defaultValue={settings.max_per_minute ?? ''}
        disabled={bound !== null && bound.max_per_minute === undefined}
        hint="Further messages arrive as one push with their number."
      />
    </div>
  );
}

type Hours = NonNullable<Subscription['mobile_notification_settings']['quiet_hours']>;

interface QuietHoursProps {
  /** The stored hours. */
  readonly quiet: Hours | null;
  /** The hours in the form; null while they are off. */
  readonly shown: Hours | null;
}

function QuietHoursFields({ quiet, shown }: QuietHoursProps) {
  const { timeZone: timezone } = Intl.DateTimeFormat().resolvedOptions();
  const { start, end, allow_priority, timezone: zone } = quiet ?? { ...suggestedHours, timezone };
  return (
    <>
      <Checkbox id="has_quiet_hours" label="Quiet hours" defaultChecked={quiet !== null} />
      <QuietHoursBar hours={shown} />
      <div class="columns">
        <Field id="quiet_start" label="From" type="time" required defaultValue={start} />
        <Field id="quiet_end" label="To" type="time" required defaultValue={end} />
        <Field id="timezone" label="Time zone" required autocomplete="off" defaultValue={zone} />
        <Select
          id="allow_priority"
          label="Still push"
          options={allowedPriorities}
          value={String(allow_priority ?? 0)}
        />
      </div>
    </>
  );
}
