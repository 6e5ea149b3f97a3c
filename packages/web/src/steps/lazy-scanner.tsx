import { lazy, type ReactNode, Suspense } from 'react';
import type { ScannerProps } from '../scan/scanner.tsx';
import { Boundary } from './boundary.tsx';
import { usePage } from './page-context.ts';

/** Loaded when somebody presses Scan: most people paste. */
const Scanner = lazy(async () => ({ default: (await import('../scan/scanner.tsx')).Scanner }));

export function LazyScanner(props: ScannerProps): ReactNode {
  const { texts } = usePage();
  return (
    <Boundary fallback={<p role="alert">{texts.scan.loadFailed}</p>}>
      <Suspense fallback={<p role="status">{texts.scan.starting}</p>}>
        <Scanner {...props} />
      </Suspense>
    </Boundary>
  );
}
