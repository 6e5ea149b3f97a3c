import { Link2Off, Printer, Share2 } from 'lucide-react';
import { useState } from 'react';
import { StatusBadge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { ConfirmDialog, Dialog } from '../../ui/dialog.tsx';
import { SelectField } from '../../ui/fields.tsx';
import { ErrorNote, Note, PageHeader, Skeleton } from '../../ui/page.tsx';
import { useToast } from '../../ui/toast.tsx';
import { CopyButton, Hash, Money, Time } from '../../ui/values.tsx';
import { useChange, useRead } from '../api.ts';
import { useParam } from '../navigation.ts';
import { useSession } from '../session.tsx';
import { words } from '../words/evidence.ts';
import { words as shellWords } from '../words/shell.ts';
import { useWords } from '../words.ts';
import { EvidenceView } from './evidence-view.tsx';

export default function RedeemPage() {
  const text = useWords(words);
  const { pages } = useWords(shellWords);
  const id = useParam('id');
  const { can } = useSession();
  const toast = useToast();
  const [isSharing, setSharing] = useState(false);
  const [isEnding, setEnding] = useState(false);
  const endLinks = useChange('DELETE /gifts/history/redeems/{id}/evidence/links');
  const evidence = useRead('GET /gifts/history/redeems/{id}/evidence', { params: { id } }, { live: true });
  const { data, error, refetch } = evidence;
  const parents = [{ label: pages.gifts, to: '/gifts?tab=redeems' }];
  if (!data) {
    return (
      <>
        <PageHeader title={pages.redeem} parents={parents} />
        {error ? <ErrorNote error={error} retry={() => void refetch()} /> : <Skeleton lines={8} />}
      </>
    );
  }
  const isUnderWay = data.status !== 'SUCCESS' && data.status !== 'FAILED';
  return (
    <>
      <PageHeader
        title={text.titleOf(data.giftName)}
        parents={parents}
        badge={<StatusBadge status={data.status} />}
        actions={
          <span className="row no-print">
            {can('DEVELOPER') && (
              <Button icon={Share2} onClick={() => setSharing(true)}>
                {text.share}
              </Button>
            )}
            <Button icon={Printer} onClick={() => print()}>
              {text.print}
            </Button>
          </span>
        }
      />
      <div className="stack">
        {isUnderWay && <Note>{text.following}</Note>}
        <EvidenceView
          evidence={data}
          giftTo={`/gifts/${data.giftId}`}
          more={[[text.fee, <Money key="fee" amount={data.feeUsd} />]]}
        />
      </div>
      {isSharing && (
        <ShareDialog
          id={id}
          onClose={() => setSharing(false)}
          onEnd={() => {
            setSharing(false);
            setEnding(true);
          }}
        />
      )}
      <ConfirmDialog
        open={isEnding}
        onClose={() => setEnding(false)}
        title={text.endLinksTitle}
        action={text.endLinks}
        onConfirm={async () => {
          await endLinks.mutateAsync({ params: { id } });
          toast.done(text.linksEnded);
        }}
      >
        {text.endLinksBody}
      </ConfirmDialog>
    </>
  );
}

const CHOICES = ['1', '7', '30', '365'] as const;

function ShareDialog({ id, onClose, onEnd }: { id: string; onClose: () => void; onEnd: () => void }) {
  const text = useWords(words);
  const [days, setDays] = useState<(typeof CHOICES)[number]>('30');
  const share = useChange('POST /gifts/history/redeems/{id}/evidence/links');
  const end = (
    <Button kind="quiet" icon={Link2Off} onClick={onEnd}>
      {text.endLinks}
    </Button>
  );
  const next = share.data ? (
    <CopyButton text value={share.data.url} label={text.link} />
  ) : (
    <Button
      kind="primary"
      pending={share.isPending}
      onClick={() => share.mutate({ params: { id }, body: { expiresInDays: Number(days) } })}
    >
      {text.makeLink}
    </Button>
  );
  const footer = (
    <>
      {end}
      {next}
    </>
  );
  return (
    <Dialog open onClose={onClose} title={text.shareTitle} description={text.shareBody} footer={footer}>
      {share.data ? (
        <div className="stack" role="status">
          <Hash value={share.data.url} label={text.link} href={share.data.url} full copy={false} />
          <p className="soft">
            {text.validUntil} <Time value={share.data.expiresAt} exact />
          </p>
        </div>
      ) : (
        <SelectField
          label={text.expiresIn}
          value={days}
          onChange={setDays}
          options={CHOICES.map((count) => [count, text.days(Number(count))] as const)}
        />
      )}
      <ErrorNote error={share.error} />
    </Dialog>
  );
}
