import { useState } from 'preact/hooks';
import type { Subscription } from '../../../api/wire.ts';
import { Field, Select } from '../../../parts/form.tsx';

type Settings = Subscription['mobile_notification_settings'];

const digests = [
  ['off', 'Immediately'],
  ['15m', 'Collected for 15 minutes'],
  ['1h', 'Collected for an hour'],
  ['1d', 'Collected, once a day'],
] as const;

const intervals = digests.map(([value]) => value as string);

/** When it starts, a daily digest has this time. */
const suggestedAt = '08:00';

interface DigestFieldsProps {
  readonly settings: Settings;
  /** The longest interval that a mandatory team subscription permits; null without one. */
  readonly longest: Settings['digest'] | null;
}

/** Whether messages up to the default priority are pushed one by one or together. */
export function DigestFields({ settings, longest }: DigestFieldsProps) {
  const [digest, setDigest] = useState<string>(settings.digest);
  const { timeZone } = Intl.DateTimeFormat().resolvedOptions();
  return (
    <div class="columns">
      <Select
        id="digest"
        label="Push lowest to default"
        options={digests}
        value={settings.digest}
        isDisabled={(option) => longest !== null && intervals.indexOf(option) > intervals.indexOf(longest)}
        onChange={setDigest}
      />
      {digest === '1d' && (
        <>
          <Field
            id="digest_at"
            label="Every day at"
            type="time"
            required
            defaultValue={settings.digest_at ?? suggestedAt}
          />
          <Field
            id="digest_timezone"
            label="In the time zone"
            required
            autocomplete="off"
            defaultValue={settings.digest_timezone ?? settings.quiet_hours?.timezone ?? timeZone}
          />
        </>
      )}
    </div>
  );
}
