import { formatNumber } from './numbers.ts';

const [width, height] = [240, 60];
const shownMs = 3_600_000;

export interface Point {
  readonly atMs: number;
  /** Null if unknown: the line has a gap. */
  readonly value: number | null;
}

interface LineChartProps {
  readonly title: string;
  /** Oldest first; the last is the current value. */
  readonly points: readonly Point[];
  /** Shown if no value is known. */
  readonly unknown: string;
}

/** The last hour of a value as a line. */
export function LineChart({ title, points, unknown }: LineChartProps) {
  const known = points.flatMap(({ value }) => (value === null ? [] : [value]));
  const latest = points.at(-1)?.value ?? null;
  const most = Math.max(0, ...known);
  const summary = known.length === 0 ? unknown : `at most ${formatNumber(most)}`;
  return (
    <figure class="chart">
      <figcaption>
        <span>{title}</span>
        <strong>{latest === null ? '–' : formatNumber(latest)}</strong>
      </figcaption>
      <svg
        viewBox={`0 -2 ${width} ${height + 4}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={`${title} in the last hour: ${summary}`}
      >
        <path d={`M0 ${height}H${width}`} class="axis" />
        <path d={lineOf(points, most)} class="line" />
      </svg>
      <div class="chart-legend">
        <span>1 hour ago</span>
        <span>{summary}</span>
        <span>now</span>
      </div>
    </figure>
  );
}

/** The path of the line, with a new part after each gap. */
function lineOf(points: readonly Point[], most: number): string {
  const endMs = points.at(-1)?.atMs ?? 0;
  let isDrawing = false;
  return points
    .map(({ atMs, value }) => {
      const step = value === null ? '' : isDrawing ? 'L' : 'M';
      isDrawing = value !== null;
      if (value === null) return '';
      const x = width * (1 - (endMs - atMs) / shownMs);
      // A single point becomes a dot.
      return `${step}${x.toFixed(1)} ${(height * (1 - value / Math.max(most, 1))).toFixed(1)}h.01`;
    })
    .join('');
}
