import { formatUsd, type GiftFileField, type TableRow, toCsv, toTable } from '@svc/protocol/values';
import { FileUp, Upload } from 'lucide-react';
import { type DragEvent, useMemo, useRef, useState } from 'react';
import { Button } from '../../ui/button.tsx';
import { CheckboxField, SelectField, SwitchField, TextField } from '../../ui/fields.tsx';
import { localeOf, useLanguage } from '../../ui/language.ts';
import { Card, ErrorNote, Figure, Note, PageHeader, Section } from '../../ui/page.tsx';
import { type Column, DataTable, Pager } from '../../ui/table.tsx';
import { Money } from '../../ui/values.tsx';
import { useRead } from '../api.ts';
import { download } from '../download.ts';
import {
  checkRows,
  guessMapping,
  type ImportRow,
  importFields,
  MAX_FILE_BYTES,
  MAX_ROWS,
  type Mapping,
} from '../gift-import.ts';
import { words } from '../words/gift-import.ts';
import { words as giftWords } from '../words/gifts.ts';
import { words as shellWords } from '../words/shell.ts';
import { useWords } from '../words.ts';
import { type ImportSettings, RunImport } from './gift-import-run.tsx';
import './gifts.css';

interface ReadFile {
  readonly name: string;
  readonly columns: readonly string[];
  readonly rows: readonly TableRow[];
}

export default function GiftImportPage() {
  const text = useWords(words);
  const { pages } = useWords(shellWords);
  const [file, setFile] = useState<ReadFile>();
  return (
    <>
      <PageHeader
        title={pages.giftImport}
        description={text.description}
        parents={[{ label: pages.gifts, to: '/gifts' }]}
      />
      {file ? (
        <Prepare key={file.name} file={file} reset={() => setFile(undefined)} />
      ) : (
        <ChooseFile onFile={setFile} />
      )}
    </>
  );
}

const EXAMPLE = toCsv(
  ['email', 'code', 'amount', 'language'],
  [
    ['ana@example.com', '', '5', 'es'],
    ['luis@example.com', 'REYES-LUIS', '10', ''],
  ],
);

function ChooseFile({ onFile }: { onFile: (file: ReadFile) => void }) {
  const text = useWords(words);
  const input = useRef<HTMLInputElement>(null);
  const [isOver, setOver] = useState(false);
  const [error, setError] = useState<string>();
  const choose = async (file: File | undefined) => {
    setError(undefined);
    if (!file) return;
    if (file.size > MAX_FILE_BYTES) return setError(text.tooLarge);
    const { default: papa } = await import('papaparse');
    const content = await file.text();
    // Blank lines mislead the guess of the separator.
    const { delimiter } = papa.parse<string[]>(content, { preview: 1, skipEmptyLines: 'greedy' }).meta;
    const { columns: named, rows } = toTable(papa.parse<string[]>(content, { delimiter }).data);
    const columns = named.filter((name) => name !== '');
    if (columns.length === 0) return setError(text.notRead);
    if (rows.length === 0) return setError(text.noRows);
    if (rows.length > MAX_ROWS) return setError(text.tooMany);
    onFile({ name: file.name, columns, rows });
  };
  const drop = (event: DragEvent) => {
    event.preventDefault();
    setOver(false);
    void choose(event.dataTransfer.files[0]);
  };
  return (
    <Section title={text.fileTitle}>
      {/* biome-ignore lint/a11y/noStaticElementInteractions: dropping is one way, the button the other */}
      <div
        className="drop"
        data-over={isOver || undefined}
        onDragOver={(event) => {
          event.preventDefault();
          setOver(true);
        }}
        onDragLeave={() => setOver(false)}
        onDrop={drop}
      >
        <FileUp size={24} aria-hidden className="soft" />
        <p>{text.drop}</p>
        <Button icon={Upload} onClick={() => input.current?.click()}>
          {text.choose}
        </Button>
        <input
          ref={input}
          className="hidden"
          type="file"
          accept=".csv,text/csv,text/plain"
          aria-label={text.choose}
          tabIndex={-1}
          onChange={(event) => void choose(event.target.files?.[0])}
        />
        <p className="soft">{text.dropHint}</p>
        <Button kind="quiet" size="s" onClick={() => download('gifts.csv', EXAMPLE)}>
          {text.example}
        </Button>
      </div>
      {error !== undefined && <ErrorNote error={{ message: error }} />}
    </Section>
  );
}

const giftTypes = ['GIFT_CARD', 'PROMOTIONAL', 'REFERRAL', 'LOYALTY', 'COMPENSATION'] as const;

function Prepare({ file, reset }: { file: ReadFile; reset: () => void }) {
  const text = useWords(words);
  const { types } = useWords(giftWords);
  const number = new Intl.NumberFormat(localeOf(useLanguage()));
  const [mapping, setMapping] = useState<Mapping>(() => guessMapping(file.columns));
  const [settings, setSettings] = useState<ImportSettings>({ name: '', type: 'GIFT_CARD', cctpFast: true });
  const [amount, setAmount] = useState('');
  const [isRunning, setRunning] = useState(false);
  const rows = useMemo(() => checkRows(file.rows, mapping, amount), [file, mapping, amount]);
  const good = useMemo(() => rows.filter(({ problems }) => problems.length === 0), [rows]);
  const columnOptions = [['', text.none], ...file.columns.map((name) => [name, name] as const)] as const;
  const column = (field: GiftFileField) => (
    <SelectField
      key={field}
      label={text.columns[field]}
      value={mapping[field]}
      onChange={(value) => setMapping({ ...mapping, [field]: value })}
      options={columnOptions}
      {...(field === 'code' && { hint: text.codesHint })}
      {...(field === 'language' && { hint: text.languageHint })}
      disabled={isRunning}
    />
  );
  return (
    <>
      <Section
        title={text.settingsTitle}
        description={text.chosen(file.name, number.format(file.rows.length))}
        actions={!isRunning && <Button onClick={reset}>{text.other}</Button>}
      >
        <Card>
          <div className="stack">
            <div className="grid">{importFields.map(column)}</div>
            <div className="grid">
              <TextField
                label={text.name}
                hint={text.nameHint}
                value={settings.name}
                maxLength={200}
                onChange={(name) => setSettings({ ...settings, name })}
                disabled={isRunning}
              />
              <TextField
                label={text.amount}
                value={amount}
                onChange={setAmount}
                inputMode="decimal"
                after="USDC"
                optional={mapping.amount !== ''}
                disabled={isRunning}
              />
              <SelectField
                label={text.type}
                value={settings.type}
                onChange={(type) => setSettings({ ...settings, type })}
                options={giftTypes.map((type) => [type, types[type]] as const)}
                disabled={isRunning}
              />
            </div>
            <SwitchField
              label={text.fast}
              checked={settings.cctpFast}
              onChange={(cctpFast) => setSettings({ ...settings, cctpFast })}
              disabled={isRunning}
            />
          </div>
        </Card>
      </Section>
      <Section title={text.previewTitle}>
        <Totals rows={rows} good={good} />
        {!isRunning && <Preview rows={rows} />}
        <RunImport rows={good} settings={settings} onStart={() => setRunning(true)} reset={reset} />
      </Section>
    </>
  );
}

function Totals({ rows, good }: { rows: readonly ImportRow[]; good: readonly ImportRow[] }) {
  const text = useWords(words);
  const number = new Intl.NumberFormat(localeOf(useLanguage()));
  const available = useRead('GET /organization').data?.balance.availableUsd;
  const total = formatUsd(good.reduce((sum, { micros }) => sum + micros, 0n));
  return (
    <>
      <div className="figures">
        <Figure label={text.goodRows} value={number.format(good.length)} />
        <Figure
          label={text.badRows}
          value={number.format(rows.length - good.length)}
          note={rows.length > good.length && text.badNote}
        />
        <Figure label={text.total} value={<Money amount={total} places={[2, 2]} />} note={text.totalNote} />
        <Figure
          label={text.available}
          value={available === undefined ? '–' : <Money amount={available} places={[2, 2]} />}
        />
      </div>
      {available !== undefined && Number(total) > available && <Note tone="warn">{text.short}</Note>}
    </>
  );
}

const SHOWN = 25;

function Preview({ rows }: { rows: readonly ImportRow[] }) {
  const text = useWords(words);
  const bad = rows.filter(({ problems }) => problems.length > 0);
  const [isOnlyBad, setOnlyBad] = useState(false);
  const [page, setPage] = useState(1);
  const listed = isOnlyBad ? bad : rows;
  const columns: Column<ImportRow>[] = [
    { key: 'line', label: text.line, cell: ({ line }) => line },
    { key: 'email', label: text.email, main: true, cell: ({ email }) => email || '–' },
    {
      key: 'code',
      label: text.code,
      cell: ({ code }) =>
        code === '' ? <span className="soft">{text.random}</span> : <span className="mono">{code}</span>,
    },
    { key: 'amount', label: text.amountColumn, align: 'end', cell: ({ amount }) => amount || '–' },
    { key: 'language', label: text.language, cell: ({ language }) => text.languages[language || 'both'] },
    {
      key: 'result',
      label: text.result,
      cell: ({ problems }) =>
        problems.length === 0 ? (
          <span className="soft">{text.good}</span>
        ) : (
          <span className="row-problem">{problems.map((problem) => text.problems[problem]).join(' ')}</span>
        ),
    },
  ];
  return (
    <>
      {bad.length > 0 && (
        <CheckboxField
          label={text.onlyBad}
          checked={isOnlyBad}
          onChange={(next) => {
            setOnlyBad(next);
            setPage(1);
          }}
        />
      )}
      <Card flush>
        <DataTable
          label={text.previewTitle}
          columns={columns}
          rows={listed.slice((page - 1) * SHOWN, page * SHOWN)}
          rowKey={({ line }) => String(line)}
          empty={null}
        />
        <Pager page={page} limit={SHOWN} total={listed.length} onPage={setPage} />
      </Card>
    </>
  );
}
