import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';

export interface Bars {
  /** Milliseconds. */
  readonly starts: readonly number[];
  readonly bucketMs: number;
  /** Counts of each bucket, for each series from the lowest one of the stack. */
  readonly counts: readonly (readonly number[])[];
  /** Colours of the series, and of the text and the lines of the axes. */
  readonly colors: { readonly series: readonly string[]; readonly text: string; readonly line: string };
  readonly font: string;
  /** Called with the bucket at the pointer, or null. */
  readonly onHover: (bucket: number | null) => void;
}

const heightPx = 200;
/** Steps of the vertical axis: messages are whole. */
const wholeSteps = Array.from({ length: 10 }, (_, power) => [1, 2, 5].map((step) => step * 10 ** power)).flat();
const daySeconds = 86_400;

const clock = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit' });
const date = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short' });
const utcDate = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short', timeZone: 'UTC' });

/** Draws stacked bars into the element, as wide as it is, until the returned function is called. */
export function drawBars(element: HTMLElement, bars: Bars): () => void {
  const plot = new uPlot(optionsOf(element, bars), dataOf(bars), element);
  const resized = new ResizeObserver(() => plot.setSize({ width: element.clientWidth, height: heightPx }));
  resized.observe(element);
  return () => {
    resized.disconnect();
    plot.destroy();
  };
}

/** The highest bar of the stack first, because later series cover earlier ones. */
function dataOf({ starts, counts }: Bars): uPlot.AlignedData {
  const sums = starts.map(() => 0);
  const stacked = counts.map((series) =>
    series.map((count, bucket) => {
      sums[bucket]! += count;
      // An invisible bar would show at the edges of the one that covers it.
      return count === 0 ? null : sums[bucket]!;
    }),
  );
  return [starts.map((start) => start / 1_000), ...stacked.toReversed()];
}

function optionsOf(element: HTMLElement, bars: Bars): uPlot.Options {
  const { starts, bucketMs, colors, font, onHover } = bars;
  const [first, last] = [starts[0]! / 1_000, (starts.at(-1)! + bucketMs) / 1_000];
  const isByDay = bucketMs >= daySeconds * 1_000;
  const axis = {
    stroke: colors.text,
    font,
    grid: { stroke: colors.line, width: 1 },
    ticks: { stroke: colors.line, width: 1, size: 4 },
  };
  return {
    width: element.clientWidth,
    height: heightPx,
    legend: { show: false },
    // Buckets of days are days in UTC.
    ...(isByDay ? { tzDate: (seconds: number) => uPlot.tzDate(new Date(seconds * 1_000), 'Etc/UTC') } : {}),
    scales: {
      x: { time: true, range: () => [first, last] },
      y: { range: (_plot, _min, max) => [0, Math.max(1, (max ?? 0) * 1.05)] },
    },
    axes: [
      { ...axis, grid: { show: false }, size: 28, values: (_plot, splits) => splits.map(timeTextOf(isByDay)) },
      {
        ...axis,
        size: 48,
        incrs: wholeSteps,
        values: (_plot, splits) => splits.map((count) => count.toLocaleString()),
      },
    ],
    series: [
      {},
      ...colors.series.toReversed().map((color) => ({
        fill: color,
        width: 0,
        points: { show: false },
        paths: uPlot.paths.bars!({ size: [0.8, 48], align: 1 }),
      })),
    ],
    cursor: { y: false, drag: { x: false, y: false }, points: { show: false } },
    hooks: { setCursor: [(plot) => onHover(bucketAt(plot, starts))] },
  };
}

const timeTextOf =
  (isByDay: boolean) =>
  (seconds: number): string => {
    const time = new Date(seconds * 1_000);
    if (isByDay) return utcDate.format(time);
    return time.getHours() === 0 && time.getMinutes() === 0 ? date.format(time) : clock.format(time);
  };

function bucketAt(plot: uPlot, starts: readonly number[]): number | null {
  const { left } = plot.cursor;
  if (left === undefined || left < 0) return null;
  const time = plot.posToVal(left, 'x') * 1_000;
  const bucket = starts.findLastIndex((start) => start <= time);
  return bucket === -1 ? null : bucket;
}
