import { formatUsd, toCsv } from '@svc/protocol/values';
import { Download } from 'lucide-react';
import { useEffect, useMemo, useRef, useState } from 'react';
import { Button, LinkButton } from '../../ui/button.tsx';
import { ConfirmDialog } from '../../ui/dialog.tsx';
import { localeOf, useLanguage } from '../../ui/language.ts';
import { Card, ErrorNote, Note, ProgressBar } from '../../ui/page.tsx';
import { formatMoney } from '../../ui/values.tsx';
import { type AnswerTo, ApiFailure, useRefresh } from '../api.ts';
import { download } from '../download.ts';
import { type Chunk, type ImportRow, keyOfChunk, toChunks } from '../gift-import.ts';
import { send } from '../request.ts';
import { words } from '../words/gift-import.ts';
import { useWords } from '../words.ts';

export interface ImportSettings {
  readonly name: string;
  readonly type: 'GIFT_CARD' | 'PROMOTIONAL' | 'REFERRAL' | 'LOYALTY' | 'COMPENSATION';
  readonly cctpFast: boolean;
}

interface Made {
  readonly code: string;
  readonly email: string;
  readonly claimUrl: string;
  readonly amount: string;
}

interface Run {
  readonly state: 'running' | 'waiting' | 'stopped' | 'done';
  readonly made: readonly Made[];
  readonly failure?: ApiFailure;
}

export interface RunImportProps {
  rows: readonly ImportRow[];
  settings: ImportSettings;
  onStart: () => void;
  reset: () => void;
}

/** The button that starts the import, then its progress and result. */
export function RunImport({ rows, settings, onStart, reset }: RunImportProps) {
  const text = useWords(words);
  const language = useLanguage();
  const count = new Intl.NumberFormat(localeOf(language)).format(rows.length);
  const [isAsking, setAsking] = useState(false);
  const total = formatMoney(formatUsd(rows.reduce((sum, { micros }) => sum + micros, 0n)), 'USD', language);
  const { run, start } = useImport(rows, settings);
  const isReady = rows.length > 0 && settings.name.trim() !== '';
  if (run) return <Progress run={run} total={rows.length} goOn={start} name={settings.name} reset={reset} />;
  return (
    <div className="row">
      <Button kind="primary" disabled={!isReady || !globalThis.isSecureContext} onClick={() => setAsking(true)}>
        {text.start(count)}
      </Button>
      {settings.name.trim() === '' && <span className="soft">{text.nameMissing}</span>}
      {!globalThis.isSecureContext && <span className="soft">{text.needsTls}</span>}
      <ConfirmDialog
        open={isAsking}
        onClose={() => setAsking(false)}
        title={text.startTitle(count)}
        action={text.start(count)}
        kind="primary"
        onConfirm={async () => {
          onStart();
          start();
        }}
      >
        {text.startBody(count, total)}
      </ConfirmDialog>
    </div>
  );
}

const LIMIT_PAUSE_MS = 10_000;
/** Limits are per minute. */
const MAX_PAUSES = 12;

/** Sends the chunks in order. Where one is refused it stops, and `start` goes on with that chunk. */
function useImport(rows: readonly ImportRow[], settings: ImportSettings) {
  const refresh = useRefresh();
  const chunks = useMemo(() => toChunks(rows), [rows]);
  const [run, setRun] = useState<Run>();
  const place = useRef(0);
  const refusals = useRef(new Map<number, number>());
  const stopped = useRef(false);
  useEffect(() => {
    stopped.current = false;
    return () => {
      stopped.current = true;
    };
  }, []);
  const isRunning = run?.state === 'running' || run?.state === 'waiting';
  useEffect(() => {
    if (!isRunning) return undefined;
    const warn = (event: BeforeUnloadEvent) => event.preventDefault();
    addEventListener('beforeunload', warn);
    return () => removeEventListener('beforeunload', warn);
  }, [isRunning]);

  const start = async () => {
    let made = run?.made ?? [];
    setRun({ state: 'running', made });
    while (place.current < chunks.length && !stopped.current) {
      const chunk = chunks[place.current];
      if (!chunk) break;
      try {
        const key = await keyOfChunk(chunk, settings, place.current, refusals.current.get(place.current) ?? 0);
        const gifts = await create(chunk, settings, key, () => setRun({ state: 'waiting', made }));
        made = [...made, ...gifts.map((gift) => ({ ...gift, amount: chunk.amount }))];
        place.current += 1;
        setRun({ state: 'running', made });
      } catch (error) {
        const failure = error instanceof ApiFailure ? error : new ApiFailure('internal_error', String(error), 0);
        if (failure.status >= 400 && failure.status < 500) {
          refusals.current.set(place.current, (refusals.current.get(place.current) ?? 0) + 1);
        }
        setRun({ state: 'stopped', made, failure });
        return;
      }
    }
    if (stopped.current) return;
    setRun({ state: 'done', made });
    void refresh(['GET /gifts', 'GET /gifts/usage', 'GET /gifts/campaigns', 'GET /organization']);
  };
  return { run, start: () => void start() };
}

async function create(chunk: Chunk, settings: ImportSettings, idempotencyKey: string, onPause: () => void) {
  const recipients = chunk.rows.map(({ email, code, language }) => ({
    email,
    ...(code !== '' && { code }),
    ...(language !== '' && { language }),
  }));
  // Exact: at most eleven digits.
  const body = { ...settings, amount: Number(chunk.amount), recipients };
  for (let pauses = 0; ; pauses++) {
    try {
      const answer = (await send('POST /gifts/bulk', { body, idempotencyKey })) as AnswerTo<'POST /gifts/bulk'>;
      return answer.gifts;
    } catch (error) {
      if (!(error instanceof ApiFailure) || error.status !== 429 || pauses >= MAX_PAUSES) throw error;
      onPause();
      await new Promise((resolve) => setTimeout(resolve, LIMIT_PAUSE_MS));
    }
  }
}

interface ProgressProps {
  run: Run;
  total: number;
  name: string;
  goOn: () => void;
  reset: () => void;
}

function Progress({ run, total, name, goOn, reset }: ProgressProps) {
  const text = useWords(words);
  const number = new Intl.NumberFormat(localeOf(useLanguage()));
  const { state, made, failure } = run;
  const save = () => {
    const cells = made.map(({ email, code, claimUrl, amount }) => [email, code, claimUrl, amount]);
    download(`${name}.csv`, toCsv(['email', 'code', 'claimUrl', 'amount'], cells));
  };
  return (
    <Card>
      <div className="stack" role="status">
        {state === 'done' ? (
          <div>
            <h2>{text.doneTitle(number.format(made.length))}</h2>
            <p className="soft">{text.doneNote}</p>
          </div>
        ) : (
          <ProgressBar
            label={text.progress}
            value={made.length}
            max={total}
            note={text.progressNote(number.format(made.length), number.format(total))}
          />
        )}
        {(state === 'running' || state === 'waiting') && (
          <Note tone="plain">{state === 'waiting' ? text.waiting : text.keepOpen}</Note>
        )}
        {state === 'stopped' && (
          <>
            <p>{text.stopped}</p>
            <ErrorNote error={failure} />
          </>
        )}
        <div className="row">
          {state === 'stopped' && (
            <Button kind="primary" onClick={goOn}>
              {text.goOn}
            </Button>
          )}
          {(state === 'done' || state === 'stopped') && made.length > 0 && (
            <Button kind={state === 'done' ? 'primary' : 'plain'} icon={Download} onClick={save}>
              {text.download}
            </Button>
          )}
          {state === 'done' && (
            <>
              <LinkButton to={`/gifts?campaign=${encodeURIComponent(name)}`}>{text.openCampaign}</LinkButton>
              <Button onClick={reset}>{text.another}</Button>
            </>
          )}
        </div>
      </div>
    </Card>
  );
}
