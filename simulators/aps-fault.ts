import { hasForm, invalidField, isCount, isNumber, isObject, isText, isTexts, oneOf, type Forms } from './forms.ts';

/** https://developer.apple.com/documentation/usernotifications/generating-a-remote-notification, table 1. */
export interface Aps {
  readonly alert?: { readonly title: string; readonly body: string };
  readonly badge?: number;
  readonly sound?: string | { readonly critical: number; readonly name: string; readonly volume: number };
  readonly 'thread-id'?: string;
  readonly category?: string;
  readonly 'interruption-level'?: string;
}

/** Table 2. */
const alertForms: Forms = {
  title: isText,
  subtitle: isText,
  body: isText,
  'launch-image': isText,
  'title-loc-key': isText,
  'title-loc-args': isTexts,
  'subtitle-loc-key': isText,
  'subtitle-loc-args': isTexts,
  'loc-key': isText,
  'loc-args': isTexts,
};

/** Table 3: `critical` is 1, and `volume` from 0 to 1. */
const soundForms: Forms = {
  critical: oneOf(0, 1),
  name: isText,
  volume: (value) => isNumber(value) && value >= 0 && value <= 1,
};

const isFlag = oneOf(1);

const apsForms: Forms = {
  alert: (value) => isText(value) || hasForm(value, alertForms),
  badge: isCount,
  sound: (value) => isText(value) || hasForm(value, soundForms),
  'thread-id': isText,
  category: isText,
  'content-available': isFlag,
  'mutable-content': isFlag,
  'target-content-id': isText,
  'interruption-level': oneOf('passive', 'active', 'time-sensitive', 'critical'),
  'relevance-score': (value) => isNumber(value) && value >= 0 && value <= 1,
  'filter-criteria': isText,
};

/** Returns the field of an alert's payload that differs from Apple's tables, or null. */
export function apsFault(aps: Readonly<Record<string, unknown>>): string | null {
  const invalid = invalidField(aps, apsForms);
  if (invalid !== undefined) return invalid;
  const isCritical = isObject(aps['sound']) && aps['sound']['critical'] === 1;
  // Elsewhere the phone ignores that the sound is critical.
  return isCritical && aps['interruption-level'] !== 'critical' ? 'sound' : null;
}
