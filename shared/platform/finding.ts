import { clockDifferenceMs, clockDifferenceMsMax } from './clock.ts';

/** What an inspection says of a part of the installation, with what to do about it where it is not well. */
export interface Finding {
  /** For the operator: `Kafka`. */
  readonly part: string;
  /** A `fault` keeps the installation from working, a `warning` does not. */
  readonly state: 'ok' | 'warning' | 'fault';
  readonly text: string;
}

/** Makes the findings of one part. */
export interface Findings {
  ok(text: string): Finding;
  warning(text: string): Finding;
  fault(text: string): Finding;
}

export function findingsOf(part: string): Findings {
  const make =
    (state: Finding['state']) =>
    (text: string): Finding => ({ part, state, text });
  return { ok: make('ok'), warning: make('warning'), fault: make('fault') };
}

/** Beyond this, times that two machines give to one thing contradict each other. */
const skewMaxMs = 1_000;

/** A finding when another machine's clock, read between two readings of ours, disagrees with ours. All in milliseconds. */
export function clockFindings(found: Findings, theirs: number, readings: readonly [number, number]): Finding[] {
  const skewMs = clockDifferenceMs(theirs, readings);
  if (Math.abs(skewMs) <= skewMaxMs) return [];
  const text = `its clock is ${(Math.abs(skewMs) / 1_000).toFixed(1)} s ${skewMs < 0 ? 'behind' : 'ahead of'} this machine's: let both follow NTP`;
  return [Math.abs(skewMs) > clockDifferenceMsMax ? found.fault(text) : found.warning(text)];
}
