import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { useLocation } from 'wouter-preact';
import { topicLogPath } from '../../../parts/paths.ts';
import { toastError } from '../../../parts/toasts.tsx';
import { LogEntry } from './log-entry.tsx';
import { startBefore, type LogPage } from './read-log.ts';

interface LogRecordsProps {
  readonly topic: string;
  readonly page: LogPage;
  /** Reads the page again. */
  readonly reload: () => Promise<void>;
}

/** A page of the log, which starts and ends where the log does or has further pages. */
export function LogRecords({ topic, page, reload }: LogRecordsProps) {
  const { records, from, hasNext, earliest } = page;
  const section = useRef<HTMLElement>(null);
  const shown = useRef(from);
  useEffect(() => {
    if (shown.current === from) return;
    shown.current = from;
    // The keyboard and screen readers continue at the new page.
    section.current?.focus({ preventScroll: true });
    section.current?.scrollIntoView({ block: 'nearest' });
  }, [from]);
  if (earliest === null) return <Edge reload={reload}>The log is empty: the topic has no messages.</Edge>;
  const hasPrevious = earliest < (records[0]?.offset ?? from);
  return (
    <section class="feed" aria-label="Page of records" tabIndex={-1} ref={section}>
      <p class="soft" role="status">
        {rangeText(page)}
      </p>
      {!hasPrevious && <p class="end">Beginning of the log</p>}
      {records.map((record) => (
        <LogEntry key={record.offset} record={record} topic={topic} />
      ))}
      {!hasNext && <Edge reload={reload}>{endText(page)}</Edge>}
      <Pager {...{ topic, page, hasPrevious }} />
    </section>
  );
}

function rangeText({ records, from }: LogPage): string {
  const [first, last] = [records[0], records.at(-1)];
  if (first === undefined || last === undefined) return `No records from offset ${from}`;
  if (first === last) return `Record ${first.offset}`;
  return `${records.length} records, offsets ${first.offset} to ${last.offset}`;
}

function endText({ from, end }: LogPage): string {
  if (end !== null && from > end) return `Offset ${from} is beyond the end of the log, which is at ${end}.`;
  return 'End of the log';
}

/** States that there are no further records, and offers to look for new ones. */
function Edge({ reload, children }: { readonly reload: () => Promise<void>; readonly children: ComponentChildren }) {
  const [isBusy, setBusy] = useState(false);
  const check = () => {
    setBusy(true);
    void reload().finally(() => setBusy(false));
  };
  return (
    <div class="end">
      <span role="status">{children}</span>
      <button type="button" class="button" disabled={isBusy} onClick={check}>
        Check for new records
      </button>
    </div>
  );
}

interface PagerProps {
  readonly topic: string;
  readonly page: LogPage;
  readonly hasPrevious: boolean;
}

function Pager({ topic, page: { records, from, next, hasNext, end }, hasPrevious }: PagerProps) {
  const [, navigate] = useLocation();
  const [isBusy, setBusy] = useState(false);
  const open = (offset: number) => navigate(topicLogPath(topic, `from_offset=${offset}`));
  const previous = async () => {
    setBusy(true);
    try {
      const first = records[0]?.offset ?? Math.min(from, end ?? from);
      open(await startBefore(topic, first, next - first));
    } catch (error) {
      toastError(error);
    } finally {
      setBusy(false);
    }
  };
  return (
    <nav class="pages" aria-label="Pages of the log">
      <button type="button" class="button" disabled={!hasPrevious || isBusy} onClick={() => void previous()}>
        Previous
      </button>
      <button type="button" class="button" disabled={!hasNext} onClick={() => open(next)}>
        Next
      </button>
    </nav>
  );
}
