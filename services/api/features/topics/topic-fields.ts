import { AppError } from '@tocsin/shared/domain/errors.ts';
import { wholeDays, type RetentionDays, type Tier } from '@tocsin/shared/domain/accounts/tiers.ts';
import { topicNameFault, type Topic } from '@tocsin/shared/domain/topics/topic.ts';
import { z } from 'zod';
import { textField } from '../../http/fields.ts';

/** Fields of a topic in requests. */
export const topicFields = {
  name: z
    .string()
    .superRefine((name, context) => {
      const message = topicNameFault(name);
      if (message !== null) context.addIssue({ code: 'custom', message });
    })
    .meta({ pattern: '^[A-Za-z0-9_-]{1,64}$' }),
  accessLevel: z.enum(['public', 'private']),
  description: textField({ min: 0, max: 1_000 }),
  isDiscoverable: z.boolean(),
  iconName: z.string().regex(/^[a-z0-9-]{1,50}$/, 'must be 1 to 50 of the characters a-z, 0-9 and -'),
  retentionDays: z.int().min(1, 'must be at least 1'),
  archive: z.boolean(),
  iconColor: z.string().regex(/^#[0-9A-Fa-f]{6}$/, 'must be a colour such as #1A2B3C'),
};

/** Throws 422 if the retention exceeds that of the owner's tier. */
export function requireWithinTier(retentionDays: number | null, days: RetentionDays, tier: Tier): void {
  const max = wholeDays(days[tier]);
  if (retentionDays !== null && retentionDays > max)
    throw new AppError(
      'unprocessable',
      `retention_days: must be at most ${max}, which is what the ${tier} tier of the topic's owner grants`,
    );
}

type Described = Pick<Topic, 'accessLevel' | 'isDiscoverable' | 'description'>;

/** Whether the public listing shows it. */
export function isListed(topic: Described): boolean {
  return topic.accessLevel === 'public' && topic.isDiscoverable;
}

/** Throws 422 if a discoverable public topic has no description. */
export function requireDescribed(topic: Described): void {
  if (isListed(topic) && topic.description.trim() === '') {
    throw new AppError('unprocessable', 'description: is required for a discoverable public topic');
  }
}
