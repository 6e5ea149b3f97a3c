import { Component, lazy, type ReactNode, Suspense } from 'react';
import { usePage } from '../steps/page-context.ts';
import type { ScannerProps } from './scanner-view.tsx';

/** A chunk of its own, loaded on the first press of Scan: most people paste. */
const ScannerView = lazy(async () => ({ default: (await import('./scanner-view.tsx')).ScannerView }));

export function Scanner(props: ScannerProps): ReactNode {
  const { texts } = usePage();
  return (
    <Boundary fallback={<p role="alert">{texts.scan.loadFailed}</p>}>
      <Suspense fallback={<p role="status">{texts.scan.starting}</p>}>
        <ScannerView {...props} />
      </Suspense>
    </Boundary>
  );
}

interface BoundaryProps {
  readonly fallback: ReactNode;
  readonly children: ReactNode;
}

/** React supports error boundaries only as classes. */
class Boundary extends Component<BoundaryProps, { readonly isBroken: boolean }> {
  override state = { isBroken: false };

  static getDerivedStateFromError(): { isBroken: boolean } {
    return { isBroken: true };
  }

  override render(): ReactNode {
    return this.state.isBroken ? this.props.fallback : this.props.children;
  }
}
