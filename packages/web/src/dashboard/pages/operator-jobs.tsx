import { CircleCheck, RotateCcw } from 'lucide-react';
import { useState } from 'react';
import { Button } from '../../ui/button.tsx';
import { ConfirmDialog } from '../../ui/dialog.tsx';
import { useLanguage } from '../../ui/language.ts';
import { Card, EmptyState, ErrorNote, PageHeader, Section } from '../../ui/page.tsx';
import { DataTable } from '../../ui/table.tsx';
import { useToast } from '../../ui/toast.tsx';
import { Hash, Time } from '../../ui/values.tsx';
import { type AnswerTo, useChange, useRead } from '../api.ts';
import { formatCount, formatSeconds, WATCH_MS } from '../measures.ts';
import { words } from '../words/operator.ts';
import { words as shell } from '../words/shell.ts';
import { useWords } from '../words.ts';

type Jobs = AnswerTo<'GET /operator/jobs'>;
type FailedJob = Jobs['failed'][number];

export default function OperatorJobsPage() {
  const { jobs: text } = useWords(words);
  const { pages } = useWords(shell);
  const { data, error, refetch } = useRead('GET /operator/jobs', {}, { every: WATCH_MS });
  return (
    <>
      <PageHeader title={pages.operatorJobs} description={text.intro} />
      <ErrorNote error={error} retry={() => void refetch()} />
      {!error && (
        <>
          <FailedJobs jobs={data?.failed} />
          <Tasks tasks={data?.tasks} />
        </>
      )}
    </>
  );
}

function FailedJobs({ jobs }: { jobs: readonly FailedJob[] | undefined }) {
  const { jobs: text } = useWords(words);
  const toast = useToast();
  const [chosen, choose] = useState<FailedJob>();
  const retry = useChange('POST /operator/jobs/{id}/retry', {
    refreshes: ['GET /operator/jobs', 'GET /operator/health', 'GET /operator/audit-log'],
  });
  return (
    <Section title={text.failedJobs} description={text.failedBody}>
      <Card flush>
        <DataTable
          label={text.failedJobs}
          rows={jobs}
          rowKey={({ id }) => id}
          columns={[
            { key: 'task', label: text.task, cell: ({ task }) => task },
            { key: 'error', label: text.error, cell: ({ lastError }) => lastError ?? '–' },
            {
              key: 'organization',
              label: text.organization,
              wideOnly: true,
              cell: ({ organizationId: id }) => (id ? <Hash value={id} to={`/operator/organizations/${id}`} /> : '–'),
            },
            { key: 'attempts', label: text.attempts, align: 'end', cell: ({ attempts }) => attempts },
            { key: 'when', label: text.when, align: 'end', cell: ({ failedAt }) => <Time value={failedAt} /> },
          ]}
          actions={(job) => (
            <Button size="s" icon={RotateCcw} onClick={() => choose(job)}>
              {text.retry}
            </Button>
          )}
          empty={
            <EmptyState icon={CircleCheck} title={text.noFailed}>
              {text.noFailedBody}
            </EmptyState>
          }
        />
      </Card>
      <ConfirmDialog
        open={chosen !== undefined}
        onClose={() => choose(undefined)}
        title={text.retryTitle}
        action={text.retry}
        kind="primary"
        onConfirm={async () => {
          if (!chosen) return;
          await retry.mutateAsync({ params: { id: chosen.id } });
          toast.done(text.retried);
        }}
      >
        {text.retryBody(chosen?.task ?? '')}
      </ConfirmDialog>
    </Section>
  );
}

function Tasks({ tasks }: { tasks: Jobs['tasks'] | undefined }) {
  const { jobs: text } = useWords(words);
  const language = useLanguage();
  const count = (value: number) => <span className="number">{formatCount(value, language)}</span>;
  return (
    <Section title={text.tasks}>
      <Card flush>
        <DataTable
          label={text.tasks}
          rows={tasks}
          rowKey={({ task }) => task}
          columns={[
            { key: 'task', label: text.task, cell: ({ task }) => task },
            { key: 'waiting', label: text.waiting, align: 'end', cell: ({ waiting }) => count(waiting) },
            { key: 'running', label: text.running, align: 'end', cell: ({ running }) => count(running) },
            { key: 'scheduled', label: text.scheduled, align: 'end', cell: ({ scheduled }) => count(scheduled) },
            { key: 'failed', label: text.failed, align: 'end', cell: ({ failed }) => count(failed) },
            {
              key: 'oldest',
              label: text.oldest,
              align: 'end',
              cell: ({ waiting, oldestWaitingSeconds }) =>
                waiting > 0 ? formatSeconds(oldestWaitingSeconds, language) : '–',
            },
          ]}
          empty={
            <EmptyState icon={CircleCheck} title={text.noTasks}>
              {text.noTasksBody}
            </EmptyState>
          }
        />
      </Card>
    </Section>
  );
}
