import { useCallback, useEffect, useRef, useState } from 'preact/hooks';

export type Loaded<T> =
  | { readonly state: 'loading' }
  | { readonly state: 'failed'; readonly error: Error }
  | { readonly state: 'done'; readonly value: T };

const loading = { state: 'loading' } as const;

/**
 * Loads when the component appears and whenever `key` changes; the value of another key is never returned. `reload`
 * keeps the value on screen while it loads.
 */
export function useLoad<T>(load: () => Promise<T>, key: string): { loaded: Loaded<T>; reload: () => Promise<void> } {
  const [last, setLast] = useState<{ readonly key: string; readonly loaded: Loaded<T> }>({ key, loaded: loading });
  const current = useRef(0);
  const latest = useRef({ load, key });
  latest.current = { load, key };
  const run = useCallback(async () => {
    const turn = ++current.current;
    const { load, key } = latest.current;
    const show = (loaded: Loaded<T>) => {
      if (turn === current.current) setLast({ key, loaded });
    };
    try {
      show({ state: 'done', value: await load() });
    } catch (error) {
      show({ state: 'failed', error: error as Error });
    }
  }, []);
  useEffect(() => {
    setLast({ key, loaded: loading });
    void run();
    return () => {
      current.current++;
    };
  }, [key, run]);
  // The first render with another key comes before its effect.
  return { loaded: last.key === key ? last.loaded : loading, reload: run };
}
