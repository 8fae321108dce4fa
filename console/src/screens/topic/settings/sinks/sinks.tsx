import { useState } from 'preact/hooks';
import { call } from '../../../../api/call.ts';
import type { Sink, Topic } from '../../../../api/wire.ts';
import { Section } from '../../../../parts/card.tsx';
import { Loading } from '../../../../parts/loading.tsx';
import { NewSecret } from '../../../../parts/new-secret.tsx';
import { isRemoved } from '../../../../parts/removals.ts';
import { useLoad } from '../../../../parts/use-load.ts';
import { SinkDeliveries } from './sink-deliveries.tsx';
import { SinkForm, type NewSink } from './sink-form.tsx';
import { SinkOffset } from './sink-offset.tsx';
import { SinkRow, type OpenedSink } from './sink-row.tsx';
import './sinks.css';

/** The URLs to which the server sends each record of the topic. */
export function Sinks({ topic }: { readonly topic: Topic }) {
  const path = `/api/topics/${topic.id}/sinks`;
  const { loaded, reload } = useLoad(() => call<Sink[]>('GET', path), path);
  const [created, setCreated] = useState<NewSink | null>(null);
  const [opened, setOpened] = useState<OpenedSink | null>(null);
  const create = async (json: object) => {
    setCreated(await call<NewSink>('POST', path, { json }));
    await reload();
  };
  const close = () => setOpened(null);
  return (
    <Section
      title="Sinks"
      hint="The server sends every message, edit and deletion to a URL, in order: to a program, or to Slack, Teams or Discord."
      aside={
        <button type="button" class="button" onClick={() => void reload()}>
          Refresh
        </button>
      }
    >
      {created?.kind === 'webhook' && !isRemoved(created) && (
        <NewSecret key={created.id} kind="signing secret" name={created.name} secret={created.secret} snippets={[]}>
          <p class="soft">With it, the receiver checks the signature of each request (Standard Webhooks).</p>
        </NewSecret>
      )}
      <Loading loaded={loaded} retry={reload} rows={2}>
        {(sinks) => (
          <SinkList path={path} sinks={sinks.filter((sink) => !isRemoved(sink))} open={setOpened} onChanged={reload} />
        )}
      </Loading>
      <SinkForm key={created?.id ?? 'first'} create={create} />
      {opened?.dialog === 'offset' && (
        <SinkOffset topic={topic.name} path={path} sink={opened.sink} onDone={reload} onClose={close} />
      )}
      {(opened?.dialog === 'deliveries' || opened?.dialog === 'test') && (
        <SinkDeliveries path={path} sink={opened.sink} isTest={opened.dialog === 'test'} onClose={close} />
      )}
    </Section>
  );
}

interface SinkListProps {
  /** Path of the list. */
  readonly path: string;
  readonly sinks: readonly Sink[];
  readonly open: (opened: OpenedSink) => void;
  readonly onChanged: () => Promise<void>;
}

function SinkList({ sinks, ...row }: SinkListProps) {
  if (sinks.length === 0) return <p class="soft">The topic has no sinks.</p>;
  return (
    <ul class="rows">
      {sinks.map((sink) => (
        <SinkRow key={sink.id} sink={sink} {...row} />
      ))}
    </ul>
  );
}
