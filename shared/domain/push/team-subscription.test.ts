import { describe, expect, test } from '@jest/globals';
import { defaultMobileSettings, type MobileSettings } from './subscription.ts';
import { boundChanges, effectiveOf, type TeamSettings, type TeamSubscription } from './team-subscription.ts';

const settings = (given: Partial<MobileSettings> = {}): MobileSettings => ({ ...defaultMobileSettings, ...given });
const team = (given: Partial<TeamSettings> = {}): TeamSettings => settings(given);

describe('the changes to what a team set', () => {
  test.each<[string, Partial<MobileSettings>, Partial<TeamSettings>, object]>([
    ['none for equal settings', { priorityThreshold: 3 }, { priorityThreshold: 3 }, {}],
    [
      'none for settings that push more',
      { priorityThreshold: 1, tagsFilter: [] },
      { priorityThreshold: 3, tagsFilter: ['db'] },
      {},
    ],
    ['a higher threshold is lowered', { priorityThreshold: 5 }, { priorityThreshold: 3 }, { priorityThreshold: 3 }],
    [
      'switches are turned on',
      { mobileEnabled: false, webEnabled: false },
      {},
      { mobileEnabled: true, webEnabled: true },
    ],
    ['a tags filter is removed', { tagsFilter: ['db'] }, {}, { tagsFilter: [] }],
    ['missing tags are added', { tagsFilter: ['db'] }, { tagsFilter: ['db', 'disk'] }, { tagsFilter: ['db', 'disk'] }],
    ['a limit per minute is removed', { maxPerMinute: 5 }, {}, { maxPerMinute: null }],
    ['a lower limit per minute is raised', { maxPerMinute: 5 }, { maxPerMinute: 10 }, { maxPerMinute: 10 }],
    ['a higher limit per minute stays', { maxPerMinute: 20 }, { maxPerMinute: 10 }, {}],
    ['a digest is turned off', { digest: '15m' }, {}, { digest: null }],
    ['a longer digest is shortened', { digest: '1d' }, { digest: '1h' }, { digest: '1h' }],
    ['a shorter digest stays', { digest: '15m', digestAt: '09:00' }, { digest: '1h' }, {}],
    ['sound and vibration are not bound', { soundEnabled: false, vibrateEnabled: false }, { soundEnabled: true }, {}],
  ])('%s', (_, own, given, changes) => {
    expect(boundChanges(settings(own), team(given))).toEqual(changes);
  });
});

test('a mandatory team subscription applies before others, then the newest', () => {
  const made = (id: string, isMandatory: boolean, createdAt: number): TeamSubscription => ({
    id,
    version: 1,
    teamId: 't',
    topicId: 'o',
    isForAll: true,
    isMandatory,
    settings: team(),
    createdAt,
    endedAt: null,
    pendingSince: null,
    doneUpTo: null,
  });
  const [old, recent, mandatory] = [made('a', false, 1), made('b', false, 3), made('c', true, 2)];
  expect(effectiveOf([old, recent, mandatory])).toBe(mandatory);
  expect(effectiveOf([old, recent])).toBe(recent);
  expect(effectiveOf([])).toBeNull();
});
