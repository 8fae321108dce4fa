import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { Loaded } from './use-load.ts';

/** After this time the skeleton explains the delay. */
const slowAfterMs = 5_000;

interface LoadingProps<T> {
  readonly loaded: Loaded<T>;
  readonly retry: () => Promise<void>;
  /** Number of placeholder rows. */
  readonly rows?: number;
  readonly children: (value: T) => ComponentChildren;
}

/** Shows placeholders while loading, then the content or an error that can be retried. */
export function Loading<T>({ loaded, retry, rows = 4, children }: LoadingProps<T>) {
  if (loaded.state === 'loading') return <Skeleton rows={rows} />;
  if (loaded.state === 'failed') return <ErrorState error={loaded.error} retry={retry} />;
  return <>{children(loaded.value)}</>;
}

export function Skeleton({ rows }: { readonly rows: number }) {
  const [isSlow, setSlow] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setSlow(true), slowAfterMs);
    return () => clearTimeout(timer);
  }, []);
  return (
    <div class="skeleton" role="status" aria-label="Loading">
      {Array.from({ length: rows }, (_, row) => (
        <div key={row} class="skeleton-row" />
      ))}
      {isSlow && <p class="soft">The server responds slowly. Still loading …</p>}
    </div>
  );
}

/** States what failed and offers to try again. */
export function ErrorState({ error, retry }: { readonly error: Error; readonly retry: () => Promise<void> }) {
  const [isBusy, setBusy] = useState(false);
  const tryAgain = async () => {
    setBusy(true);
    await retry().finally(() => setBusy(false));
  };
  return (
    <div class="error-state">
      <p class="note bad" role="alert">
        {error.message}
      </p>
      <p class="soft">Nothing is lost. Try again; if this continues, ask the operator of this server.</p>
      <button type="button" class="button" disabled={isBusy} onClick={() => void tryAgain()}>
        Try again
      </button>
    </div>
  );
}
