import type { Message } from '@tocsin/shared/domain/messages/message.ts';
import type { MobileSettings } from '@tocsin/shared/domain/push/subscription.ts';
import type { PushLevel } from '../providers/push-gateway.ts';
import type { PushDeps } from './push-deps.ts';

/** Returns how a push of the message interrupts the subscriber. */
export function pushLevel(
  { priority, isSilent }: Pick<Message, 'priority' | 'isSilent'>,
  { allowCritical }: Pick<MobileSettings, 'allowCritical'>,
  { isCriticalAllowed }: Pick<PushDeps, 'isCriticalAllowed'>,
): PushLevel {
  if (isSilent || priority <= 2) return 'low';
  if (priority <= 4) return priority === 3 ? 'default' : 'high';
  return isCriticalAllowed && allowCritical === true ? 'critical' : 'urgent';
}
