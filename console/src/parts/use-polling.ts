import { useEffect, useRef } from 'preact/hooks';

/** Reloads while the page is visible, each time this long after the previous reload has settled. */
export function usePolling(reload: () => Promise<unknown>, everyMs: number): void {
  const latest = useRef(reload);
  latest.current = reload;
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | null = null;
    const wait = () => {
      timer = setTimeout(() => void poll(), everyMs);
    };
    const poll = async () => {
      if (document.visibilityState === 'visible') await latest.current();
      if (timer !== null) wait();
    };
    wait();
    return () => {
      if (timer !== null) clearTimeout(timer);
      timer = null;
    };
  }, [everyMs]);
}
