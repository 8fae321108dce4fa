import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { platforms, type Platform } from '@tocsin/shared/domain/push/device.ts';
import { writeSimulatorSettings, type SimulatorSettings } from '@tocsin/simulators/simulator-settings.ts';

export interface SimulatorQuestion {
  readonly messageId: string;
}

export type SimulatorAnswer = { readonly kind: 'started'; readonly settings: SimulatorSettings } | PushTally;

/** Pushes of one message that a simulator accepted. Times are milliseconds since the epoch. */
export interface PushTally {
  readonly kind: 'tally';
  readonly taken: number;
  /** Number of different devices. */
  readonly distinct: number;
  readonly firstAt: number | null;
  readonly lastAt: number | null;
}

/** Simulators of all providers, each a separate process. */
export interface PushSimulators {
  /** Variables that configure a notifier to use the simulators. */
  readonly env: Readonly<Record<string, string>>;
  readonly pids: Readonly<Record<Platform, number>>;
  /** Accepted pushes of the message over all simulators. */
  tally(messageId: string): Promise<PushTally>;
  stop(): void;
}

/**
 * The simulators share the cores with the measured process. With a larger young generation, short-lived objects die
 * before promotion.
 */
const roomForYoung = ['--max-semi-space-size=64'];

/** Starts the simulators and writes their credential files to the directory. Every response takes `latencyMs`. */
export async function startPushSimulators(dir: string, latencyMs: number): Promise<PushSimulators> {
  const settings: SimulatorSettings[] = [];
  const children: ChildProcess[] = [];
  for (const platform of platforms) {
    const child = fork(join(import.meta.dirname, 'push-simulator.ts'), [platform, String(latencyMs)], {
      execArgv: [...roomForYoung, '--disable-warning=ExperimentalWarning'],
    });
    children.push(child);
    const [answer] = (await once(child, 'message')) as [SimulatorAnswer];
    if (answer.kind !== 'started') throw new Error(`the simulator of ${platform} did not start`);
    settings.push(answer.settings);
  }
  return {
    env: writeSimulatorSettings(dir, settings),
    pids: Object.fromEntries(platforms.map((platform, place) => [platform, children[place]!.pid!])) as Record<
      Platform,
      number
    >,
    async tally(messageId) {
      const tallies = await Promise.all(
        children.map(async (child) => {
          const answered = once(child, 'message');
          child.send({ messageId } satisfies SimulatorQuestion);
          return (await answered)[0] as PushTally;
        }),
      );
      const times = (pick: (tally: PushTally) => number | null) => tallies.map(pick).filter((at) => at !== null);
      const sum = (pick: (tally: PushTally) => number) => tallies.reduce((total, tally) => total + pick(tally), 0);
      const [first, last] = [times(({ firstAt }) => firstAt), times(({ lastAt }) => lastAt)];
      return {
        kind: 'tally',
        taken: sum(({ taken }) => taken),
        distinct: sum(({ distinct }) => distinct),
        firstAt: first.length === 0 ? null : Math.min(...first),
        lastAt: last.length === 0 ? null : Math.max(...last),
      };
    },
    stop: () => children.forEach((child) => child.disconnect()),
  };
}
