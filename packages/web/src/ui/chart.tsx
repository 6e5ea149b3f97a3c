import { lazy, Suspense } from 'react';
import type { ChartProps } from './chart-canvas.tsx';
import { localeOf, useLanguage, useWords } from './language.ts';
import { Skeleton } from './page.tsx';
import { words } from './words.ts';

export type { ChartProps, ChartSeries } from './chart-canvas.tsx';

const ChartCanvas = lazy(() => import('./chart-canvas.tsx'));

/** A chart with the same numbers as a table below it. */
export function Chart(props: ChartProps) {
  const { title, times, series, timeLabel, days = false } = props;
  const text = useWords(words);
  const locale = localeOf(useLanguage());
  const number = new Intl.NumberFormat(locale, { maximumFractionDigits: 6 });
  const format = props.format ?? ((value: number) => number.format(value));
  const time = new Intl.DateTimeFormat(
    locale,
    days ? { dateStyle: 'medium' } : { dateStyle: 'short', timeStyle: 'short' },
  );
  return (
    <figure className="chart">
      <figcaption className="hidden">{title}</figcaption>
      <Suspense fallback={<Skeleton lines={5} />}>
        <ChartCanvas {...props} format={format} />
      </Suspense>
      <details>
        <summary>{text.table}</summary>
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls is reached by keyboard */}
        <section className="chart-table" tabIndex={0} aria-label={title}>
          <table className="table plain-table">
            <thead>
              <tr>
                <th scope="col">{timeLabel}</th>
                {series.map(({ label }) => (
                  <th key={label} scope="col" data-align="end">
                    {label}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {times.map((moment, index) => (
                <tr key={moment}>
                  <th scope="row">{time.format(new Date(moment))}</th>
                  {series.map(({ label, values }) => (
                    <td key={label} data-align="end" className="number">
                      {format(values[index] ?? 0)}
                    </td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </section>
      </details>
    </figure>
  );
}
