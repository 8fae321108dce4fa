interface Hours {
  readonly start: string;
  readonly end: string;
}

const hourWidth = 20;
const dayMinutes = 24 * 60;

/** A day from midnight to midnight with the quiet hours marked; they may cross midnight. */
export function QuietHoursBar({ hours }: { readonly hours: Hours | null }) {
  const spans = hours === null ? [] : spansOf(minutesOf(hours.start), minutesOf(hours.end));
  const text = hours === null ? 'No quiet hours' : `Quiet from ${hours.start} to ${hours.end}`;
  return (
    <svg class="day-bar" viewBox="0 0 480 34" role="img" aria-label={text}>
      <rect class="day" x="0" y="0" width="480" height="14" rx="4" />
      {spans.map(([from, to]) => (
        <rect key={from} class="quiet" x={x(from)} y="0" width={x(to) - x(from)} height="14" rx="4" />
      ))}
      {[0, 6, 12, 18, 24].map((hour) => (
        <text
          key={hour}
          x={hour * hourWidth}
          y="30"
          text-anchor={hour === 0 ? 'start' : hour === 24 ? 'end' : 'middle'}
        >
          {String(hour).padStart(2, '0')}
        </text>
      ))}
    </svg>
  );
}

const x = (minute: number): number => (minute / 60) * hourWidth;

/** Minutes after midnight of `HH:MM`. */
function minutesOf(clock: string): number {
  const [hours = 0, minutes = 0] = clock.split(':').map(Number);
  return hours * 60 + minutes;
}

const spansOf = (from: number, to: number): (readonly [number, number])[] =>
  from <= to
    ? [[from, to]]
    : [
        [from, dayMinutes],
        [0, to],
      ];
