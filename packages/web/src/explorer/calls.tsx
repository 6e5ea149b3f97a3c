import { useWords } from '../ui/language.ts';
import { Link } from '../ui/link.tsx';
import { DescriptionList } from '../ui/page.tsx';
import { Hash } from '../ui/values.tsx';
import type { Field, Value } from './abi.ts';
import { type DecodedCall, type DecodedEvent, hex, type Token, type TokenTransfer } from './decode.ts';
import { Address, Amount, ChainTime, Felt, useBook } from './shared.tsx';
import { words } from './words.ts';

/** Calls in their order; those of an outside execution inside it. */
export function CallList({ calls }: { calls: readonly DecodedCall[] }) {
  const text = useWords(words);
  if (calls.length === 0) return <p className="soft">{text.noCalls}</p>;
  return (
    <ol className="calls">
      {calls.map((call, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the order of calls never changes
        <li key={index} className="call">
          <CallView call={call} />
        </li>
      ))}
    </ol>
  );
}

function CallView({ call }: { call: DecodedCall }) {
  const text = useWords(words);
  const book = useBook();
  return (
    <>
      <p className="call-head">
        <strong className="mono">{call.name ?? text.unknownFunction}</strong>
        <span className="soft">{text.onContract}</span>
        <Address value={call.to} copy={false} />
      </p>
      {call.outside ? (
        <OutsideView call={call} outside={call.outside} />
      ) : call.marker ? (
        <MarkerView marker={call.marker} />
      ) : call.inputs ? (
        <FieldList fields={call.inputs} token={book.token(call.to)} />
      ) : (
        <RawFelts label={text.rawCalldata} felts={[hex(call.selector), ...call.calldata.map(hex)]} />
      )}
    </>
  );
}

function OutsideView({ call, outside }: { call: DecodedCall; outside: NonNullable<DecodedCall['outside']> }) {
  const text = useWords(words);
  const { user, sessionKey, nonce, executeAfter, executeBefore } = outside;
  return (
    <div className="outside">
      <p className="soft">
        <strong>{text.outside}.</strong> {text.outsideOf}
      </p>
      <DescriptionList
        rows={[
          [text.user, <Address key="user" value={user} />],
          [text.signedBy, <Signer key="signer" user={user} sessionKey={sessionKey} />],
          [text.nonceOfExecution, <Hash key="nonce" value={hex(nonce)} />],
          [
            text.window,
            <span key="window">
              {executeAfter > 1n && (
                <>
                  <ChainTime seconds={executeAfter} exact /> –{' '}
                </>
              )}
              <ChainTime seconds={executeBefore} exact />
            </span>,
          ],
        ]}
      />
      <CallList calls={call.outside?.calls ?? []} />
    </div>
  );
}

export function Signer({ user, sessionKey }: { user: bigint; sessionKey: bigint | undefined }) {
  const text = useWords(words);
  if (sessionKey === undefined) return <>{text.owner}</>;
  return (
    <span className="row">
      <Link to={`/account/${hex(user)}#session-${hex(sessionKey)}`}>{text.session}</Link>
      <Hash value={hex(sessionKey)} label={text.sessionKey} />
    </span>
  );
}

function MarkerView({ marker: { kind, id, giftId } }: { marker: NonNullable<DecodedCall['marker']> }) {
  const text = useWords(words);
  return (
    <>
      <p className="soft">{text.markerHint}</p>
      <DescriptionList
        rows={[
          [text.type, text.marker[kind]],
          [kind === 'refund' ? text.purchaseId : text.redeemId, <Hash key="id" value={id} full />],
          [text.giftId, giftId && <Hash value={giftId} full />],
        ]}
      />
    </>
  );
}

const AMOUNTS = new Set(['amount', 'value', 'added_value', 'subtracted_value', 'initial_supply']);
const TIMES = new Set(['valid_until', 'execute_after', 'execute_before', 'window_start']);

function FieldList({ fields, token }: { fields: readonly Field[]; token: Token | undefined }) {
  const book = useBook();
  // Some calls name the token beside the amount.
  const named = fields.find(({ name }) => name === 'burn_token' || name === 'token')?.value;
  const unit = token ?? (named?.kind === 'address' ? book.token(named.value) : undefined);
  if (fields.length === 0) return null;
  return (
    <DescriptionList
      rows={fields.map(({ name, value }) => [name, <ValueView key={name} name={name} value={value} token={unit} />])}
    />
  );
}

function ValueView({ name, value, token }: { name: string; value: Value; token: Token | undefined }) {
  const book = useBook();
  switch (value.kind) {
    case 'address':
      return <Address value={value.value} />;
    case 'class':
      return <ClassLink value={value.value} />;
    case 'number':
      if (token && (AMOUNTS.has(name) || name.startsWith('max_'))) return <Amount value={value.value} token={token} />;
      if (TIMES.has(name) && value.value > 0n && value.value < 2n ** 36n)
        return <ChainTime seconds={value.value} exact />;
      return <Felt value={value.value} />;
    case 'felt':
      return name.includes('selector') || name === 'allowed_entrypoints' ? (
        <span className="mono">{book.functionName(value.value) ?? hex(value.value)}</span>
      ) : (
        <Felt value={value.value} />
      );
    case 'bool':
      return <span className="mono">{String(value.value)}</span>;
    case 'text':
      return <span className="mono">{value.value === '' ? '“”' : value.value}</span>;
    case 'call':
      return <span className="mono">{book.functionName(value.value.selector) ?? hex(value.value.selector)}</span>;
    case 'variant':
      return (
        <span className="row">
          <span className="mono">{value.name}</span>
          {value.value && <ValueView name={name} value={value.value} token={token} />}
        </span>
      );
    case 'fields':
      return <FieldList fields={value.fields} token={token} />;
    case 'list':
      return value.items.length === 0 ? (
        <span className="mono">[]</span>
      ) : (
        <span className="items">
          {value.items.map((item, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: the order of a list never changes
            <ValueView key={index} name={name} value={item} token={token} />
          ))}
        </span>
      );
  }
}

export function ClassLink({ value }: { value: bigint }) {
  const text = useWords(words);
  const known = useBook().class(value);
  const names: Readonly<Record<string, string>> = text.classes;
  if (!known) return <Hash value={hex(value)} to={`/class/${hex(value)}`} label={text.class} />;
  return (
    <span className="row">
      <Link to={`/class/${hex(value)}`}>{names[known.name] ?? known.name}</Link>
      <Hash value={hex(value)} label={text.class} />
    </span>
  );
}

function RawFelts({ label, felts }: { label: string; felts: readonly string[] }) {
  return (
    <details className="raw">
      <summary>
        {label} ({felts.length})
      </summary>
      <ol className="mono">
        {felts.map((felt, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: the order of felts never changes
          <li key={index}>{felt}</li>
        ))}
      </ol>
    </details>
  );
}

export function EventList({ events }: { events: readonly DecodedEvent[] }) {
  const text = useWords(words);
  const book = useBook();
  if (events.length === 0) return <p className="soft">{text.noEvents}</p>;
  return (
    <ol className="calls">
      {events.map((event, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the order of events never changes
        <li key={index} className="call">
          <p className="call-head">
            <strong className="mono">{event.name ?? text.unknownEvent}</strong>
            <span className="soft">{text.onContract}</span>
            <Address value={event.from} copy={false} />
          </p>
          {event.fields ? (
            <FieldList fields={event.fields} token={book.token(event.from)} />
          ) : (
            <>
              <RawFelts label={text.keys} felts={event.raw.keys} />
              <RawFelts label={text.data} felts={event.raw.data} />
            </>
          )}
        </li>
      ))}
    </ol>
  );
}

export function TransferList({ transfers }: { transfers: readonly TokenTransfer[] }) {
  const text = useWords(words);
  return (
    <ul className="transfers">
      {transfers.map(({ token, from, to, amount }, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the order of transfers never changes
        <li key={index}>
          <strong>
            <Amount value={amount} token={token} />
          </strong>
          {from === 0n ? (
            <span className="soft">{text.minted}</span>
          ) : (
            <>
              <span className="soft">{text.from.toLowerCase()}</span> <Address value={from} copy={false} />
            </>
          )}
          {to === 0n ? (
            <span className="soft">{text.burnt}</span>
          ) : (
            <>
              <span className="soft">{text.to.toLowerCase()}</span> <Address value={to} copy={false} />
            </>
          )}
        </li>
      ))}
    </ul>
  );
}
