import { useEffect, useRef } from 'react';
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
}

const HEIGHT = 180;
const BAR_WIDTH: [factor: number, max: number] = [0.7, 28];

/** Draws on a canvas; hidden from screen readers, which get the table. */
export default function ChartCanvas(props: ChartProps) {
  const place = useRef<HTMLDivElement>(null);
  const locale = localeOf(useLanguage());
  const theme = useTheme();
  // biome-ignore lint/correctness/useExhaustiveDependencies: the theme changes the colours that the options read
  useEffect(() => {
    const element = place.current;
    if (!element) return undefined;
    const draw = () => new uPlot(optionsOf(props, element, locale), dataOf(props), element);
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
  }, [props, locale, theme]);
  return <div ref={place} className="chart-canvas" aria-hidden="true" />;
}

const heightOf = ({ height = HEIGHT }: ChartProps) => height;

const dataOf = ({ times, series }: ChartProps): uPlot.AlignedData => [
  times.map((time) => Date.parse(time) / 1_000),
  ...series.map(({ values }) => [...values]),
];

function optionsOf(props: ChartProps, element: HTMLElement, locale: string): uPlot.Options {
  const { series, kind = 'bars', days = false, format = String } = props;
  const color = (name: string) => resolveColor(element, `var(--${name})`);
  const short = new Intl.DateTimeFormat(locale, days ? { day: 'numeric', month: 'short' } : { timeStyle: 'short' });
  const long = new Intl.DateTimeFormat(locale, {
    ...(days ? { dateStyle: 'medium' as const } : { dateStyle: 'medium' as const, timeStyle: 'short' as const }),
  });
  const axis = {
    stroke: color('ink-soft'),
    font: `12px ${getComputedStyle(element).fontFamily}`,
    ticks: { show: false },
    grid: { stroke: color('line'), width: 1 },
  };
  const bars = uPlot.paths.bars?.({ size: BAR_WIDTH, radius: 0.15 });
  return {
    width: element.clientWidth,
    height: heightOf(props),
    padding: [8, 8, 0, 0],
    legend: { show: true, live: true },
    cursor: { y: false, points: { size: 6 } },
    scales: { y: { range: (_, __, max) => [0, max <= 0 ? 1 : max * 1.1] } },
    axes: [
      {
        ...axis,
        grid: { show: false },
        values: (_, splits) => splits.map((at) => short.format(at * 1_000)),
        space: 64,
      },
      { ...axis, values: (_, splits) => splits.map((value) => format(value)), size: 64 },
    ],
    series: [
      { label: props.timeLabel, value: (_, at) => (at == null ? '–' : long.format(at * 1_000)) },
      ...series.map(({ label, tone = 'accent' }) => ({
        label,
        stroke: color(tone),
        fill: color(kind === 'bars' ? tone : `${tone}-soft`),
        width: kind === 'bars' ? 0 : 1.5,
        points: { show: false },
        value: (_: uPlot, value: number | null) => (value == null ? '–' : format(value)),
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
