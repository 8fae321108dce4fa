import { call } from '../../api/call.ts';
import type { Deliveries, Message } from '../../api/wire.ts';
import { Loading } from '../../parts/loading.tsx';
import { timeAgo } from '../../parts/time/times.ts';
import { useLoad } from '../../parts/use-load.ts';
import { subscriptionTo } from '../../state/inbox.ts';

const statusTexts: Readonly<Record<Deliveries['deliveries'][number]['status'], string>> = {
  pending: 'Queued',
  sent: 'Sent',
  skipped: 'Not sent',
  retrying: 'Retrying',
  dead_token: 'Device unregistered',
  failed: 'Failed',
};

/** Why each device of the account did or did not get the message. */
export function PushReport({ message }: { readonly message: Message }) {
  const { loaded, reload } = useLoad(
    () => call<Deliveries>('GET', `/api/messages/${message.id}/deliveries`),
    message.id,
  );
  return (
    <div class="panel" role="region" aria-label="Pushes of this message">
      <h4>Pushes to your devices</h4>
      <Loading loaded={loaded} retry={reload} rows={1}>
        {({ deliveries, counts }) => (
          <>
            {deliveries.length === 0 && <p class="soft">{noPushReason(message)}</p>}
            <ul class="pushes">
              {deliveries.map((push) => (
                <li key={push.device_id}>
                  <span class={`badge ${push.status}`}>{statusTexts[push.status]}</span>
                  <span dir="auto">{push.device_id}</span>
                  <span class="soft">{push.platform}</span>
                  <span class="soft">{timeAgo(push.updated_at)}</span>
                  {push.reason !== null && <span class="reason">{push.reason}</span>}
                </li>
              ))}
            </ul>
            {counts !== null && <p class="soft">{countsText(counts)}</p>}
          </>
        )}
      </Loading>
    </div>
  );
}

function noPushReason(message: Message): string {
  const subscription = subscriptionTo(message.topic_id);
  if (subscription === undefined) return 'You are not subscribed to this topic, so your devices get no pushes.';
  if (!subscription.mobile_notifications_enabled && !subscription.web_notifications_enabled)
    return 'Pushes are switched off for your subscription.';
  return 'No device of your account was registered when the message was published.';
}

function countsText(counts: Readonly<Record<string, number>>): string {
  const parts = Object.entries(counts).filter(([, count]) => count > 0);
  const texts = parts.map(([status, count]) => `${count} ${status.replace('_', ' ')}`);
  return texts.length === 0 ? 'No pushes to any subscriber.' : `All subscribers: ${texts.join(', ')}.`;
}
