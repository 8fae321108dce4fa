import { clockDifferenceMs, clockDifferenceMsMax } from './clock.ts';

/** The result of checking a component of the installation, with a remedy for faults and warnings. */
export interface Finding {
  /** The display name, such as `Kafka`. */
  readonly part: string;
  /** A `fault` prevents operation, a `warning` does not. */
  readonly state: 'ok' | 'warning' | 'fault';
  readonly text: string;
}

/** Creates the findings of one component. */
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

/** Beyond this, timestamps of different machines contradict each other. */
const skewMaxMs = 1_000;

/** Returns a finding if a remote clock, read between two local readings, differs from ours. All in milliseconds. */
export function clockFindings(findings: Findings, remote: number, readings: readonly [number, number]): Finding[] {
  const skewMs = clockDifferenceMs(remote, readings);
  if (Math.abs(skewMs) <= skewMaxMs) return [];
  const text = `its clock is ${(Math.abs(skewMs) / 1_000).toFixed(1)} s ${skewMs < 0 ? 'behind' : 'ahead of'} this machine's: synchronize both with NTP`;
  return [Math.abs(skewMs) > clockDifferenceMsMax ? findings.fault(text) : findings.warning(text)];
}
