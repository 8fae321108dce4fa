import { useEffect } from 'preact/hooks';
import { call } from '../../../../api/call.ts';
import type { Sink, SinkDelivery } from '../../../../api/wire.ts';
import { Dialog } from '../../../../parts/dialog.tsx';
import { Loading } from '../../../../parts/loading.tsx';
import { completeTime, timeAgo } from '../../../../parts/time/times.ts';
import { useLoad } from '../../../../parts/use-load.ts';

/** The server keeps 1,000. */
const shownMax = 100;
/** A receiver has ten seconds to respond. */
const awaitsMs = 15_000;
const looksEveryMs = 1_000;

const outcomes: Readonly<Record<SinkDelivery['outcome'], readonly [text: string, badge: string]>> = {
  delivered: ['Delivered', 'sent'],
  retrying: ['Retrying', 'retrying'],
  skipped: ['Skipped', 'skipped'],
  disabled: ['Disabled the sink', 'failed'],
  paused: ['Paused the sink', 'failed'],
};

interface SinkDeliveriesProps {
  /** Path of the list of sinks. */
  readonly path: string;
  readonly sink: Sink;
  /** Whether a test was just sent. */
  readonly isTest: boolean;
  readonly onClose: () => void;
}

/** The newest deliveries of a sink. */
export function SinkDeliveries({ path, sink, isTest, onClose }: SinkDeliveriesProps) {
  const key = `${path}/${sink.id}/deliveries?limit=${shownMax}`;
  const { loaded, reload } = useLoad(() => call<SinkDelivery[]>('GET', key), key);
  useEffect(() => {
    if (!isTest) return;
    const ends = Date.now() + awaitsMs;
    const timer = setInterval(() => (Date.now() < ends ? void reload() : clearInterval(timer)), looksEveryMs);
    return () => clearInterval(timer);
  }, [isTest, reload]);
  return (
    <Dialog title={`Deliveries of ${sink.name}`} onClose={onClose}>
      <div class="confirm">
        {isTest && <p role="status">The test appears here when the receiver has responded.</p>}
        <Loading loaded={loaded} retry={reload} rows={3}>
          {(deliveries) => <DeliveryList deliveries={deliveries} />}
        </Loading>
        <div class="form-actions">
          <button type="button" class="button" onClick={() => void reload()}>
            Refresh
          </button>
        </div>
      </div>
    </Dialog>
  );
}

function DeliveryList({ deliveries }: { readonly deliveries: readonly SinkDelivery[] }) {
  if (deliveries.length === 0) return <p class="soft">Nothing was sent yet.</p>;
  return (
    <ul class="pushes">
      {deliveries.map((delivery) => {
        const [text, badge] = outcomes[delivery.outcome];
        return (
          <li key={`${delivery.webhook_id} ${delivery.at}`}>
            <span class={`badge ${badge}`}>{text}</span>
            <span>{delivery.offset === null ? 'Test' : `Offset ${delivery.offset}`}</span>
            <span class="soft">
              {delivery.status === null ? '' : `HTTP ${delivery.status} · `}
              {delivery.attempts > 1 ? `${delivery.attempts} attempts · ` : ''}
              {delivery.milliseconds.toLocaleString()} ms
            </span>
            <time class="soft" dateTime={delivery.at} title={completeTime(delivery.at)}>
              {timeAgo(delivery.at)}
            </time>
            {delivery.error !== null && <span class="reason">{delivery.error}</span>}
          </li>
        );
      })}
    </ul>
  );
}
