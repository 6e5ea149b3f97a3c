import { FileX, Printer } from 'lucide-react';
import { StatusBadge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { EmptyState, ErrorNote, PageHeader, Skeleton } from '../../ui/page.tsx';
import { isFailure, useRead } from '../api.ts';
import { useParam } from '../navigation.ts';
import { words } from '../words/evidence.ts';
import { useWords } from '../words.ts';
import { EvidenceView } from './evidence-view.tsx';

/** For anyone who has the link: no session, no layout. */
export default function EvidencePage() {
  const text = useWords(words);
  const token = useParam('token');
  const { data, error, refetch } = useRead('GET /evidence/{token}', { params: { token } }, { live: true });
  if (isFailure(error, 'evidence_not_found') || isFailure(error, 'invalid_request')) {
    return (
      <main className="evidence-outside">
        <PageHeader title={text.title} />
        <EmptyState icon={FileX} title={text.badLink}>
          {text.badLinkBody}
        </EmptyState>
      </main>
    );
  }
  return (
    <main className="evidence-outside">
      <PageHeader
        title={data ? text.titleOf(data.giftName) : text.title}
        badge={data && <StatusBadge status={data.status} />}
        actions={
          <span className="no-print">
            <Button icon={Printer} onClick={() => print()}>
              {text.print}
            </Button>
          </span>
        }
      />
      {error && <ErrorNote error={error} retry={() => void refetch()} />}
      {!data && !error && <Skeleton lines={8} />}
      {data && <EvidenceView evidence={data} />}
      <p className="printed-link soft">{text.printed(location.href)}</p>
    </main>
  );
}
