import type { TransactionDetails } from '@svc/protocol';
import { Compass, TriangleAlert } from 'lucide-react';
import { StatusBadge } from '../../ui/badge.tsx';
import { LinkButton } from '../../ui/button.tsx';
import { CodeBlock } from '../../ui/code-block.tsx';
import { Card, DescriptionList, EmptyState, ErrorNote, Note, PageHeader, Section, Skeleton } from '../../ui/page.tsx';
import { DataTable } from '../../ui/table.tsx';
import { Hash, Time } from '../../ui/values.tsx';
import { Gas, TokenAmount, useDecimals } from '../amounts.tsx';
import { useEvery, useRead } from '../api.ts';
import { useEnvironment } from '../environment.ts';
import { useParam } from '../navigation.ts';
import { TransactionTable } from '../transaction-table.tsx';
import { words } from '../words/transactions.ts';
import { useWords } from '../words.ts';
import './transaction.css';

const LIVE_MS = 2_000;

export default function TransactionPage() {
  const text = useWords(words);
  const hashOrId = useParam('id');
  const details = useRead('GET /transactions/{hashOrId}/details', { params: { hashOrId } });
  const status = details.data?.transaction.status;
  useEvery(LIVE_MS, () => void details.refetch(), status === 'PENDING' || status === 'PROCESSING');
  const parents = [{ label: text.title, to: '/transactions' }];
  if (!details.data) {
    return (
      <div className="stack">
        <PageHeader title={text.transaction} parents={parents} />
        {details.error ? (
          <ErrorNote error={details.error} retry={() => void details.refetch()} />
        ) : (
          <Skeleton lines={10} />
        )}
      </div>
    );
  }
  return <View details={details.data} parents={parents} />;
}

function View({ details, parents }: { details: TransactionDetails; parents: { label: string; to: string }[] }) {
  const text = useWords(words);
  const environment = useEnvironment();
  const { transaction, records, revertReason, calls, relay } = details;
  const title = transaction.type ? text.types[transaction.type] : text.transaction;
  const isOnStarknet = transaction.chain === 'STARKNET';
  return (
    <div className="stack">
      <PageHeader
        title={title}
        parents={parents}
        badge={<StatusBadge status={transaction.status} />}
        actions={
          environment === 'development' &&
          isOnStarknet && (
            <LinkButton href={`/sandbox/explorer/tx/${transaction.transactionHash}`} icon={Compass}>
              {text.explorer}
            </LinkButton>
          )
        }
      />
      {isOnStarknet && details.status === null && <Note tone="warn">{text.noChain}</Note>}
      {revertReason && (
        <Note tone="bad" icon={TriangleAlert}>
          <p>
            <strong>{text.reason}</strong>
          </p>
          <p className="mono reason">{revertReason}</p>
        </Note>
      )}
      <Card>
        <Facts details={details} />
      </Card>
      {records.length > 1 && (
        <Section title={text.records} description={text.recordsNote}>
          <Card flush>
            <TransactionTable label={text.records} rows={records} empty={null} />
          </Card>
        </Section>
      )}
      {isOnStarknet && (
        <Section title={text.calls} description={text.callsNote}>
          {calls.length === 0 ? (
            <Card>
              <EmptyState title={text.noCalls} />
            </Card>
          ) : (
            <ol className="steps">
              {calls.map((call, index) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: calls have no id, and their order does not change
                <li key={index}>
                  <Call call={call} />
                </li>
              ))}
            </ol>
          )}
        </Section>
      )}
      {isOnStarknet && <Events details={details} />}
      {relay && <Relay relay={relay} />}
    </div>
  );
}

function Facts({ details }: { details: TransactionDetails }) {
  const text = useWords(words);
  const decimalsOf = useDecimals();
  const { transaction: record, status, blockNumber, fee, feePayer } = details;
  const { token, amount, chain } = record;
  const party = (address: string, walletId: string | undefined, label: string) => (
    <Hash value={address} label={label} to={walletId && `/wallets/${walletId}`} />
  );
  return (
    <DescriptionList
      columns={2}
      rows={[
        [
          text.amount,
          amount === undefined ? undefined : (
            <TokenAmount key="amount" raw={amount} token={token} decimals={token && decimalsOf(chain, token)} />
          ),
        ],
        [text.fee, fee === null ? undefined : <Gas key="fee" fri={fee} />],
        [text.sender, party(record.senderAddress, record.svcWalletId, text.sender)],
        [text.destination, party(record.destinationAddress, record.destinationSvcWalletId, text.destination)],
        [text.feePayer, feePayer === null ? undefined : <Hash key="payer" value={feePayer} label={text.feePayer} />],
        [text.called, record.functionName],
        [text.onChain, status === null ? undefined : text.chainStates[status]],
        [text.block, blockNumber ?? undefined],
        [text.hash, <Hash key="hash" value={record.transactionHash} label={text.hash} />],
        [text.id, <Hash key="id" value={record.id} label={text.id} />],
        [text.created, <Time key="created" value={record.createdAt} exact />],
        [text.confirmed, record.confirmedAt && <Time key="confirmed" value={record.confirmedAt} exact />],
        [
          text.sku,
          record.skuId && (
            <LinkButton key="sku" size="s" to={`/purchases/${record.id}`}>
              {text.purchase}
            </LinkButton>
          ),
        ],
      ]}
    />
  );
}

function Call({ call }: { call: TransactionDetails['calls'][number] }) {
  const text = useWords(words);
  const { functionName, functionSelector, contractAddress, token, decimals } = call;
  return (
    <Card
      title={
        <>
          <span className="mono">{functionName ?? `${functionSelector.slice(0, 12)}…`}</span>
          {token && <span className="soft"> · {token}</span>}
        </>
      }
    >
      <DescriptionList
        columns={2}
        rows={[
          [text.contract, <Hash key="contract" value={contractAddress} label={text.contract} />],
          [text.caller, <Hash key="caller" value={call.caller} label={text.caller} />],
          ...(call.arguments ?? []).map(
            ({ name, value }) => [name, <Value key={name} {...{ name, value, token, decimals }} />] as const,
          ),
        ]}
      />
      <details>
        <summary>{text.raw}</summary>
        <CodeBlock value={[functionSelector, ...call.calldata].join('\n')} label={text.raw} />
      </details>
    </Card>
  );
}

interface ValueProps {
  name: string;
  value: string;
  token: TransactionDetails['calls'][number]['token'];
  decimals: number | null;
}

function Value({ name, value, token, decimals }: ValueProps) {
  if (name === 'amount') return <TokenAmount raw={value} token={token} decimals={decimals} />;
  if (name === 'valid_until') return <Time value={momentOf(value)} exact />;
  return value.startsWith('0x') ? <Hash value={value} label={name} /> : <span className="number">{value}</span>;
}

const LAST_SECOND = 253_402_300_799;
const momentOf = (seconds: string) => new Date(Math.min(Number(seconds), LAST_SECOND) * 1_000).toISOString();

function Events({ details: { events, hasAllEvents } }: { details: TransactionDetails }) {
  const text = useWords(words);
  return (
    <Section title={text.events} description={text.eventsNote}>
      {!hasAllEvents && <Note tone="warn">{text.moreEvents}</Note>}
      <Card flush>
        <DataTable
          label={text.events}
          rows={events}
          rowKey={({ index }) => String(index)}
          columns={[
            {
              key: 'name',
              label: text.event,
              cell: ({ name, token, keys }) => (
                <span>
                  <span className="mono">{name ?? `${keys[0]?.slice(0, 10)}…`}</span>
                  {token && <span className="soft"> · {token}</span>}
                </span>
              ),
            },
            {
              key: 'contract',
              label: text.contract,
              cell: ({ contractAddress }) => <Hash value={contractAddress} label={text.contract} />,
            },
            { key: 'values', label: text.facts, cell: (event) => <EventValues event={event} /> },
          ]}
          empty={<EmptyState title={text.noEvents} />}
        />
      </Card>
    </Section>
  );
}

function EventValues({ event }: { event: TransactionDetails['events'][number] }) {
  const text = useWords(words);
  const { values, token, decimals, keys, data } = event;
  if (!values) {
    return (
      <details>
        <summary>{text.rawEvent}</summary>
        <CodeBlock value={[...keys, ...data].join('\n')} label={text.rawEvent} />
      </details>
    );
  }
  return (
    <dl className="values">
      {values.map(({ name, value }) => (
        <div key={name}>
          <dt className="soft">{name}</dt>
          <dd>
            <Value {...{ name, value, token, decimals }} />
          </dd>
        </div>
      ))}
    </dl>
  );
}

const attemptTones = { SUCCEEDED: 'good', REVERTED: 'bad', SENT: 'info', STORED: 'info', REPLACED: 'plain' } as const;

function Relay({ relay }: { relay: NonNullable<TransactionDetails['relay']> }) {
  const text = useWords(words);
  return (
    <Section title={text.relay} description={text.relayNote}>
      <Card>
        <DescriptionList
          columns={2}
          rows={[
            [
              text.account,
              relay.account === null ? undefined : <Hash key="account" value={relay.account} label={text.account} />,
            ],
            [text.nonce, relay.nonce ?? undefined],
          ]}
        />
      </Card>
      <Card flush>
        <DataTable
          label={text.relay}
          rows={relay.attempts}
          rowKey={({ transactionHash }) => transactionHash}
          columns={[
            { key: 'kind', label: text.attempt, cell: ({ kind }) => text.kinds[kind] },
            {
              key: 'hash',
              label: text.hash,
              cell: ({ transactionHash }) => <Hash value={transactionHash} label={text.hash} />,
            },
            {
              key: 'state',
              label: text.status,
              cell: ({ state }) => <StatusBadge status={state} label={text.states[state]} tone={attemptTones[state]} />,
            },
            { key: 'fee', label: text.maxFee, align: 'end', cell: ({ maxFee }) => <Gas fri={maxFee} /> },
            {
              key: 'signed',
              label: text.signed,
              cell: ({ signedAt }) => <Time value={signedAt} exact />,
              wideOnly: true,
            },
            { key: 'sent', label: text.sent, cell: ({ sentAt }) => <Time value={sentAt} exact /> },
          ]}
          empty={<EmptyState title={text.relay} />}
        />
      </Card>
    </Section>
  );
}
