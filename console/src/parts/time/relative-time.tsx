import { useEffect, useState } from 'preact/hooks';
import { completeTime } from './times.ts';

/** The shown text is this old at most. */
const stepMs = 10_000;

interface RelativeTimeProps {
  readonly iso: string;
  /** The text of the time as seen from now, such as `timeAgo`. */
  readonly text: (iso: string) => string;
}

/** A time in relation to now, which stays true while the page is open. */
export function RelativeTime({ iso, text }: RelativeTimeProps) {
  const [, setNow] = useState(0);
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), stepMs);
    return () => clearInterval(timer);
  }, []);
  return (
    <time dateTime={iso} title={completeTime(iso)}>
      {text(iso)}
    </time>
  );
}
