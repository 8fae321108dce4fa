import { useState } from 'preact/hooks';
import { Link } from 'wouter-preact';
import { call } from '../../../api/call.ts';
import { session } from '../../../api/session.ts';
import type { Consumer } from '../../../api/wire.ts';
import { Section } from '../../../parts/card.tsx';
import { CopyLine } from '../../../parts/copy-line.tsx';
import { Dialog } from '../../../parts/dialog.tsx';
import { Form } from '../../../parts/form.tsx';
import { Icon } from '../../../parts/icon.tsx';
import { Loading } from '../../../parts/loading.tsx';
import { loginPath, topicLogPath } from '../../../parts/paths.ts';
import { timeAgo } from '../../../parts/time/times.ts';
import { toast } from '../../../parts/toasts.tsx';
import { useLoad } from '../../../parts/use-load.ts';
import { ConsumerDialog, consumerPath } from './consumer-dialog.tsx';
import { consumerLines, keyVariable } from './consumer-lines.ts';

const hint = 'A consumer is an offset that the server keeps for a program, which continues there. Only you see yours.';

/** The account's consumers of the topic. */
export function LogConsumers({ topic }: { readonly topic: string }) {
  if (session.value !== null) return <OwnConsumers topic={topic} />;
  return (
    <Section title="Consumers" hint={hint}>
      <p>
        <Link href={loginPath()}>Log in to create one</Link>
      </p>
    </Section>
  );
}

interface Opened {
  readonly dialog: 'set' | 'delete';
  /** Null: a new one. */
  readonly consumer: Consumer | null;
}

function OwnConsumers({ topic }: { readonly topic: string }) {
  const path = `/api/topics/${encodeURIComponent(topic)}/consumers`;
  const { loaded, reload } = useLoad(() => call<Consumer[]>('GET', path), path);
  const [opened, setOpened] = useState<Opened | null>(null);
  const close = () => setOpened(null);
  const names = loaded.state === 'done' ? loaded.value.map(({ name }) => name) : [];
  return (
    <Section
      title="Consumers"
      hint={hint}
      aside={
        <div class="consumer-actions">
          <button type="button" class="button" onClick={() => void reload()}>
            Refresh
          </button>
          <button type="button" class="button" onClick={() => setOpened({ dialog: 'set', consumer: null })}>
            <Icon name="plus" />
            Create a consumer
          </button>
        </div>
      }
    >
      <Loading loaded={loaded} retry={reload} rows={2}>
        {(consumers) => <ConsumerList topic={topic} consumers={consumers} open={setOpened} />}
      </Loading>
      {opened?.dialog === 'set' && (
        <ConsumerDialog {...{ topic, names }} consumer={opened.consumer} onDone={reload} onClose={close} />
      )}
      {opened?.dialog === 'delete' && opened.consumer !== null && (
        <DeleteDialog topic={topic} consumer={opened.consumer} onDone={reload} onClose={close} />
      )}
    </Section>
  );
}

interface ConsumerListProps {
  readonly topic: string;
  readonly consumers: readonly Consumer[];
  readonly open: (opened: Opened) => void;
}

function ConsumerList({ topic, consumers, open }: ConsumerListProps) {
  if (consumers.length === 0) return <p class="soft">You have no consumers of this topic.</p>;
  return (
    <ul class="rows">
      {consumers.map((consumer) => (
        <ConsumerRow key={consumer.name} {...{ topic, consumer, open }} />
      ))}
    </ul>
  );
}

interface ConsumerRowProps extends Pick<ConsumerListProps, 'topic' | 'open'> {
  readonly consumer: Consumer;
}

function ConsumerRow({ topic, consumer, open }: ConsumerRowProps) {
  const { name, offset, lag, lost, updated_at } = consumer;
  return (
    <li class="consumer">
      <div class="grow">
        <div dir="auto">{name}</div>
        <div class="soft">
          offset {offset} · {lagText(lag)} · {lost > 0 && `${lost.toLocaleString()} lost · `}stored{' '}
          {timeAgo(updated_at)}
        </div>
      </div>
      <div class="consumer-actions">
        <Link
          class="button"
          href={topicLogPath(topic, `from_offset=${offset}`)}
          aria-label={`Read the log from the offset of ${name}`}
        >
          Read
        </Link>
        <button
          type="button"
          class="button"
          aria-label={`Set the offset of ${name}`}
          onClick={() => open({ dialog: 'set', consumer })}
        >
          Set offset
        </button>
        <button
          type="button"
          class="button"
          aria-label={`Delete the consumer ${name}`}
          onClick={() => open({ dialog: 'delete', consumer })}
        >
          Delete
        </button>
      </div>
      <details class="create">
        <summary>Lines for the shell …</summary>
        <ConsumerLines topic={topic} consumer={consumer} />
      </details>
    </li>
  );
}

/** As `countedRecordsMax` of the server: a lag beyond it is an upper bound. */
const countedLagMax = 10_000;

const lagText = (lag: number): string =>
  lag === 0 ? 'no lag' : `lag ${lag > countedLagMax ? 'at most ' : ''}${lag.toLocaleString()}`;

function ConsumerLines({ topic, consumer }: { readonly topic: string; readonly consumer: Consumer }) {
  return (
    <div class="consumer-lines">
      <p class="soft">
        <code>{keyVariable}</code> is an API key of your account with the scope <code>subscribe</code>. Store the{' '}
        <code>next_offset</code> of the records that your program has processed.
      </p>
      {consumerLines(location.origin, topic, consumer).map(([title, line]) => (
        <div key={title}>
          <h3>{title}</h3>
          <CopyLine text={line} label={`Copy the line: ${title}`} />
        </div>
      ))}
    </div>
  );
}

interface DeleteDialogProps {
  readonly topic: string;
  readonly consumer: Consumer;
  readonly onDone: () => Promise<void>;
  readonly onClose: () => void;
}

function DeleteDialog({ topic, consumer: { name, offset }, onDone, onClose }: DeleteDialogProps) {
  const remove = async () => {
    await call('DELETE', consumerPath(topic, name));
    await onDone();
    onClose();
    toast(`The consumer ${name} is deleted.`);
  };
  return (
    <Dialog title={`Delete the consumer ${name}`} onClose={onClose}>
      <Form action="Delete the consumer" tone="danger" send={remove}>
        <p>Its offset {offset} is lost, and a program that uses it gets an error. The log itself does not change.</p>
      </Form>
    </Dialog>
  );
}
