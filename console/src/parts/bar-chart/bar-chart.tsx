import { useEffect, useRef, useState } from 'preact/hooks';
import { theme } from '../theme.ts';
import './bar-chart.css';

/** A series of a chart, with the CSS class of its colour. */
export interface BarSeries {
  readonly name: string;
  readonly tone: string;
  /** For each bucket. */
  readonly counts: readonly number[];
}

interface BarChartProps {
  /** What the bars count. */
  readonly label: string;
  /** ISO 8601, oldest first. At least one. */
  readonly starts: readonly string[];
  readonly bucket: 'hour' | 'day';
  /** From the lowest one of the stack. */
  readonly series: readonly BarSeries[];
}

const bucketMs = { hour: 3_600_000, day: 86_400_000 } as const;

/**
 * Stacked bars over time, with a legend that shows the counts of the bar at the pointer, and a table with the same
 * counts for keyboards and screen readers.
 */
export function BarChart({ label, starts, bucket, series }: BarChartProps) {
  const [hovered, setHovered] = useState<number | null>(null);
  const { plot, legend, hasFailed } = useBars({ starts, bucket, series, onHover: setHovered });
  const at = hovered === null || hovered >= starts.length ? null : hovered;
  return (
    <figure class="bar-chart">
      <div class="bar-chart-plot" ref={plot} role="img" aria-label={`${label}. The table has the same counts.`} />
      {hasFailed && <p class="soft">The chart could not be loaded. The table has the same counts.</p>}
      <figcaption>
        <span class="soft">{at === null ? 'Total' : timeText(starts[at]!, bucket)}</span>
        <ul class="bar-chart-legend" ref={legend}>
          {series.map(({ name, tone, counts }) => (
            <li key={name}>
              <span class={`swatch ${tone}`} aria-hidden="true" />
              {name} <strong>{(at === null ? sumOf(counts) : counts[at]!).toLocaleString()}</strong>
            </li>
          ))}
        </ul>
      </figcaption>
      <CountsTable {...{ label, starts, bucket, series }} />
    </figure>
  );
}

/** Draws the bars with code that is loaded with the first chart, again when the data or a colour changes. */
function useBars({
  starts,
  bucket,
  series,
  onHover,
}: Omit<BarChartProps, 'label'> & { readonly onHover: (bucket: number | null) => void }) {
  const plot = useRef<HTMLDivElement>(null);
  const legend = useRef<HTMLUListElement>(null);
  const [hasFailed, setFailed] = useState(false);
  const isDark = useSystemDark();
  useEffect(() => {
    let close: (() => void) | null = null;
    let isClosed = false;
    import('./draw-bars.ts').then(
      ({ drawBars }) => {
        if (isClosed) return;
        const swatches = [...legend.current!.querySelectorAll('.swatch')];
        const { color, borderBottomColor, fontFamily } = getComputedStyle(plot.current!);
        close = drawBars(plot.current!, {
          starts: starts.map((start) => Date.parse(start)),
          bucketMs: bucketMs[bucket],
          counts: series.map(({ counts }) => counts),
          // A canvas does not resolve CSS variables: take the colours that the elements have.
          colors: {
            series: swatches.map((swatch) => getComputedStyle(swatch).backgroundColor),
            text: color,
            line: borderBottomColor,
          },
          font: `12px ${fontFamily}`,
          onHover,
        });
      },
      () => isClosed || setFailed(true),
    );
    return () => {
      isClosed = true;
      close?.();
    };
  }, [JSON.stringify([starts, bucket, series]), theme.value, isDark]);
  return { plot, legend, hasFailed };
}

/** Whether the system uses dark colours. */
function useSystemDark(): boolean {
  const [query] = useState(() => matchMedia('(prefers-color-scheme: dark)'));
  const [isDark, setDark] = useState(query.matches);
  useEffect(() => {
    const update = () => setDark(query.matches);
    query.addEventListener('change', update);
    return () => query.removeEventListener('change', update);
  }, [query]);
  return isDark;
}

/** The buckets that are not empty. */
function CountsTable({ label, starts, bucket, series }: BarChartProps) {
  const [isOpen, setOpen] = useState(false);
  const rows = starts
    .map((start, index) => ({ start, counts: series.map(({ counts }) => counts[index]!) }))
    .filter(({ counts }) => sumOf(counts) > 0);
  return (
    <details class="create" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>Show as a table …</summary>
      {isOpen && (
        <div class="bar-chart-table" tabIndex={0} role="region" aria-label={label}>
          <table>
            <thead>
              <tr>
                <th scope="col">{bucket === 'day' ? 'Day (UTC)' : 'Hour from'}</th>
                {series.map(({ name }) => (
                  <th key={name} scope="col">
                    {name}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {rows.map(({ start, counts }) => (
                <tr key={start}>
                  <th scope="row">{timeText(start, bucket)}</th>
                  {counts.map((count, index) => (
                    <td key={series[index]!.name}>{count.toLocaleString()}</td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </details>
  );
}

const day = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeZone: 'UTC' });
const hour = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' });

const timeText = (iso: string, bucket: 'hour' | 'day'): string => (bucket === 'day' ? day : hour).format(new Date(iso));

const sumOf = (counts: readonly number[]): number => counts.reduce((sum, count) => sum + count, 0);
