import { useEffect, useRef, useState } from 'react';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { localeOf, useLanguage } from './language.ts';
import { useTheme } from './theme.ts';

export interface ChartSeries {
  readonly label: string;
  readonly values: readonly number[];
  readonly tone?: 'accent' | 'good' | 'bad' | 'info' | 'warn';
}

export interface ChartProps {
  title: string;
  /** ISO date-times, one for each value. */
  times: readonly string[];
  series: readonly ChartSeries[];
  kind?: 'bars' | 'line';
  /** The heading of the column of times. */
  timeLabel: string;
  format?: (value: number) => string;
  /** Steps of a day or longer: times are shown as dates. */
  days?: boolean;
  height?: number;
  /** Counts: the axis has no halves. */
  whole?: boolean;
}

const HEIGHT = 180;
const BAR_WIDTH: [factor: number, max: number] = [0.7, 28];
const AXIS_WIDTH = 52;
const AXIS_HEIGHT = 28;
const WHOLE_STEPS = Array.from({ length: 13 }, (_, power) => [1, 2, 5].map((step) => step * 10 ** power)).flat();

/** Draws on a canvas; hidden from screen readers, which get the table. */
export default function ChartCanvas(props: ChartProps & { format: (value: number) => string }) {
  const { times, series, format, timeLabel } = props;
  const place = useRef<HTMLDivElement>(null);
  const locale = localeOf(useLanguage());
  const theme = useTheme();
  const [pointed, setPointed] = useState<number>();
  // biome-ignore lint/correctness/useExhaustiveDependencies: drawn anew for other numbers, colours and languages alone
  useEffect(() => {
    const element = place.current;
    if (!element) return undefined;
    const draw = () => new uPlot(optionsOf(props, element, locale, setPointed), dataOf(props), element);
    let plot = draw();
    const sizes = new ResizeObserver(() => plot.setSize({ width: element.clientWidth, height: heightOf(props) }));
    sizes.observe(element);
    const scheme = matchMedia('(prefers-color-scheme: dark)');
    const redraw = () => {
      plot.destroy();
      plot = draw();
    };
    scheme.addEventListener('change', redraw);
    return () => {
      scheme.removeEventListener('change', redraw);
      sizes.disconnect();
      plot.destroy();
    };
  }, [JSON.stringify([times, series, props.kind, props.days, props.height]), locale, theme]);
  const moment = pointed === undefined ? undefined : times[pointed];
  return (
    <div aria-hidden="true">
      <div className="chart-legend number">
        <ul>
          {series.map(({ label, values, tone = 'accent' }) => (
            <li key={label}>
              <span className={`chart-mark ${tone}`} />
              {label} {pointed !== undefined && <b>{format(values[pointed] ?? 0)}</b>}
            </li>
          ))}
        </ul>
        <span>{moment === undefined ? '' : timeFormat(props, locale, true).format(new Date(moment))}</span>
      </div>
      <div ref={place} className="chart-canvas" title={timeLabel} />
    </div>
  );
}

const heightOf = ({ height = HEIGHT }: ChartProps) => height;

const dataOf = ({ times, series }: ChartProps): uPlot.AlignedData => [
  times.map((time) => Date.parse(time) / 1_000),
  ...series.map(({ values }) => [...values]),
];

function timeFormat({ days = false }: ChartProps, locale: string, isLong: boolean): Intl.DateTimeFormat {
  if (days) return new Intl.DateTimeFormat(locale, { day: 'numeric', month: 'short', timeZone: 'UTC' });
  return new Intl.DateTimeFormat(locale, isLong ? { dateStyle: 'medium', timeStyle: 'short' } : { timeStyle: 'short' });
}

function optionsOf(
  props: ChartProps & { format: (value: number) => string },
  element: HTMLElement,
  locale: string,
  point: (index: number | undefined) => void,
): uPlot.Options {
  const { times, series, kind = 'bars', format } = props;
  const color = (name: string) => resolveColor(element, `var(--${name})`);
  const short = timeFormat(props, locale, false);
  const axis = {
    stroke: color('ink-soft'),
    font: `12px ${getComputedStyle(element).fontFamily}`,
    ticks: { show: false },
    grid: { stroke: color('line'), width: 1 },
  };
  const bars = uPlot.paths.bars?.({ size: BAR_WIDTH, radius: 0.15 });
  const first = Date.parse(times[0] ?? '') / 1_000;
  const last = Date.parse(times.at(-1) ?? '') / 1_000;
  // Half a bar of room on both sides.
  const room = kind === 'bars' && times.length > 1 ? (last - first) / (times.length - 1) / 2 : 0;
  return {
    width: element.clientWidth,
    height: heightOf(props),
    padding: [8, 20, 0, 0],
    legend: { show: false },
    cursor: { y: false, points: { size: 6 }, drag: { x: false, y: false } },
    scales: {
      x: { range: [first - room, last + room] },
      y: { range: (_, __, max) => [0, max <= 0 ? 1 : max * 1.1] },
    },
    axes: [
      {
        ...axis,
        grid: { show: false },
        values: (_, splits) => splits.map((at) => short.format(at * 1_000)),
        space: 64,
        size: AXIS_HEIGHT,
      },
      {
        ...axis,
        values: (_, splits) => splits.map((value) => format(value)),
        size: AXIS_WIDTH,
        ...(props.whole && { incrs: WHOLE_STEPS }),
      },
    ],
    hooks: { setCursor: [({ cursor }) => point(cursor.idx ?? undefined)] },
    series: [
      {},
      ...series.map(({ label, tone = 'accent' }) => ({
        label,
        stroke: color(tone),
        fill: color(kind === 'bars' ? tone : `${tone}-soft`),
        width: kind === 'bars' ? 0 : 1.5,
        points: { show: false },
        ...(kind === 'bars' && bars && { paths: bars }),
      })),
    ],
  };
}

/** A canvas knows no custom properties. */
function resolveColor(element: HTMLElement, value: string): string {
  const probe = document.createElement('span');
  probe.style.color = value;
  element.append(probe);
  const color = getComputedStyle(probe).color;
  probe.remove();
  return color;
}
