import { useEffect, useRef, useState } from 'preact/hooks';
import type { RetentionPlan, RetentionRun } from '../../api/wire.ts';
import { Section } from '../../parts/card.tsx';
import { Loading } from '../../parts/loading.tsx';
import { ConfirmDialog } from '../../parts/confirm-dialog.tsx';
import { toast } from '../../parts/toasts.tsx';
import { useLoad } from '../../parts/use-load.ts';
import { Holds } from './holds.tsx';
import { countOf, formatBytes } from './numbers.ts';
import { callAsOperator } from './operator.ts';
import { RetentionHistory } from './retention-history.tsx';
import { Pause, PausedOrWaiting, Plan, PlanTime, type Removal } from './retention-plan.tsx';
import { usePolling } from '../../parts/use-polling.ts';

/** While a run is requested or in progress, and otherwise. */
const pollMs = { busy: 2_000, idle: 15_000 } as const;

/** Plan, runs and exceptions of the removal of expired messages. */
export function Retention() {
  const [upTo, setUpTo] = useState('');
  const [removal, setRemoval] = useState<Removal | null>(null);
  const [requested, setRequested] = useState<string | null>(null);
  const planPath = `/admin/retention/plan${upTo === '' ? '' : `?${new URLSearchParams({ up_to: upTo }).toString()}`}`;
  const plan = useLoad(() => callAsOperator<RetentionPlan>('GET', planPath), planPath);
  const history = useLoad(() => callAsOperator<RetentionRun[]>('GET', '/admin/retention/history'), 'history');
  const runs = history.loaded.state === 'done' ? history.loaded.value : [];
  const isQueued = requested !== null && !runs.some(({ id }) => id === requested);
  const isBusy = isQueued || runs.some(({ outcome }) => outcome === 'running');
  const reloadAll = () => Promise.all([plan.reload(), history.reload()]);
  usePolling(isBusy ? reloadAll : history.reload, isBusy ? pollMs.busy : pollMs.idle);
  // The plan may have been read before the run was done.
  useWhenDone(isBusy, plan.reload);
  const remove = async ({ action, up_to }: Removal) => {
    const { run_id: id } = await callAsOperator<{ run_id: string }>('POST', `/admin/retention/${action}`, {
      json: { up_to },
    });
    setRequested(id);
    toast('The run is requested. It starts within seconds.');
    void reloadAll();
  };
  return (
    <>
      <Section
        title="Expired messages"
        hint="No reader sees expired messages. A run removes them from the store: by schedule, or now."
      >
        <Loading loaded={plan.loaded} retry={plan.reload} rows={4}>
          {(shown) => (
            <>
              <PausedOrWaiting plan={shown} confirm={setRemoval} onChanged={plan.reload} />
              <Plan plan={shown} isBusy={isBusy} remove={setRemoval} />
              <PlanTime upTo={upTo} setUpTo={setUpTo} />
              {shown.paused_at === null && <Pause onChanged={plan.reload} />}
            </>
          )}
        </Loading>
      </Section>
      <Section title="Runs" hint="Reports of 90 days, the newest first.">
        {isQueued && (
          <p class="note good" role="status">
            The run is requested and waits for a worker. If another run starts first, or retention is paused, it does
            not start.
          </p>
        )}
        <Loading loaded={history.loaded} retry={history.reload} rows={3}>
          {(loaded) => <RetentionHistory runs={loaded} />}
        </Loading>
      </Section>
      <Holds />
      {removal !== null && (
        <ConfirmDialog
          title={removal.action === 'run' ? 'Remove expired messages' : 'Confirm the plan'}
          action={`Remove ${countOf(removal.messages, 'message')}`}
          run={() => remove(removal)}
          onClose={() => setRemoval(null)}
        >
          <p>
            Removes {countOf(removal.messages, 'message')} ({formatBytes(removal.bytes)}) from the store. This cannot be
            undone.
          </p>
          <p class="soft">Topics under legal hold keep theirs. The audit log records the request.</p>
        </ConfirmDialog>
      )}
    </>
  );
}

/** Acts when something that was in progress is no longer. */
function useWhenDone(isBusy: boolean, act: () => Promise<void>): void {
  const wasBusy = useRef(false);
  useEffect(() => {
    if (wasBusy.current && !isBusy) void act();
    wasBusy.current = isBusy;
  }, [isBusy]);
}
