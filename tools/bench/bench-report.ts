import type { BenchSize } from './bench-size.ts';
import type { FanOutFigures } from './measure-fan-out.ts';
import type { IdleFigures } from './measure-idle.ts';
import type { PublishFigures } from './measure-publishing.ts';
import type { ReadingFigures } from './measure-reading.ts';
import type { RetentionFigures } from './measure-retention.ts';
import type { ReplayFigures } from './measure-replay.ts';
import type { ScalingFigures } from './measure-scaling.ts';

/** All figures of one engine in one run. Parts that were not requested are absent. */
export interface BenchReport {
  readonly engine: 'embedded' | 'cluster';
  readonly size: BenchSize;
  /** ISO 8601. */
  readonly at: string;
  readonly node: string;
  readonly cores: number;
  /** The machine's one-minute load average before and after the run. A high value before the run means other work. */
  readonly load: { readonly before: number; readonly after: number };
  readonly publishing?: readonly PublishFigures[];
  readonly fanOut?: readonly FanOutFigures[];
  readonly reading?: ReadingFigures;
  readonly retention?: RetentionFigures;
  readonly replay?: readonly ReplayFigures[];
  readonly idle?: IdleFigures;
  readonly scaling?: readonly ScalingFigures[];
}
