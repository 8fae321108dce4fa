import { useCallback, useEffect, useRef, useState } from 'preact/hooks';

export type Loaded<T> =
  | { readonly state: 'loading' }
  | { readonly state: 'failed'; readonly error: Error }
  | { readonly state: 'done'; readonly value: T };

/** Loads when the component appears and whenever `key` changes. `reload` keeps the value on screen while it loads. */
export function useLoad<T>(load: () => Promise<T>, key: string): { loaded: Loaded<T>; reload: () => Promise<void> } {
  const [loaded, setLoaded] = useState<Loaded<T>>({ state: 'loading' });
  const current = useRef(0);
  const latest = useRef(load);
  latest.current = load;
  const run = useCallback(async () => {
    const turn = ++current.current;
    try {
      const value = await latest.current();
      if (turn === current.current) setLoaded({ state: 'done', value });
    } catch (error) {
      if (turn === current.current) setLoaded({ state: 'failed', error: error as Error });
    }
  }, []);
  useEffect(() => {
    setLoaded({ state: 'loading' });
    void run();
    return () => {
      current.current++;
    };
  }, [key, run]);
  return { loaded, reload: run };
}
