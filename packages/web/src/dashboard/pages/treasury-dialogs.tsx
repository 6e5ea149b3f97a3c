import type { ChainToken, Treasury } from '@svc/protocol';
import type { ReactNode, SubmitEvent } from 'react';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { SelectField, TextAreaField, TextField } from '../../ui/fields.tsx';
import { ErrorNote, Note } from '../../ui/page.tsx';
import { useChange, useRead } from '../api.ts';
import { useForm } from '../form.ts';
import { useNavigateTo } from '../navigation.ts';
import type { ApiFailure } from '../request.ts';
import {
  FieldRows,
  PolicyFields,
  type PolicyValues,
  policyBody,
  policyValues,
  tokenOptions,
} from '../treasury-fields.tsx';
import { words } from '../words/treasuries.ts';
import { useWords } from '../words.ts';

interface DialogProps {
  treasury: Treasury;
  onClose: () => void;
}

const MAX_ROWS = 64;
const PROPOSALS = 'GET /treasuries/{id}/transactions';

interface FrameProps {
  id: string;
  title: string;
  description: string;
  form: { pending: boolean; failure: ApiFailure | undefined; onSubmit: (event: SubmitEvent) => void };
  onClose: () => void;
  children: ReactNode;
}

function ProposeFrame({ id, title, description, form, onClose, children }: FrameProps) {
  return (
    <Dialog
      open
      onClose={onClose}
      title={title}
      description={description}
      footer={
        <Button type="submit" form={id} kind="primary" pending={form.pending}>
          {title}
        </Button>
      }
    >
      <form id={id} className="form" onSubmit={form.onSubmit}>
        {children}
      </form>
      <ErrorNote error={form.failure} />
    </Dialog>
  );
}

/** Goes to the proposal that was made. */
function useProposed({ treasury, onClose }: DialogProps) {
  const navigate = useNavigateTo();
  return ({ id }: { id: string }) => {
    onClose();
    navigate(`/treasuries/${treasury.id}/${id}`);
  };
}

function useDescription() {
  const text = useWords(words);
  return { label: text.note, hint: text.noteHint, optional: true, maxLength: 500 };
}

interface TransferValues {
  readonly token: ChainToken;
  readonly recipient: string;
  readonly amount: string;
}

const EMPTY_TRANSFER: TransferValues = { token: 'USDC', recipient: '', amount: '' };

export function PaymentDialog(props: DialogProps) {
  const text = useWords(words);
  const done = useProposed(props);
  const description = useDescription();
  const propose = useChange('POST /treasuries/{id}/transactions', { refreshes: [PROPOSALS] });
  const form = useForm<{ transfers: readonly TransferValues[]; description: string }>({
    initial: { transfers: [EMPTY_TRANSFER], description: '' },
    onSubmit: async ({ transfers, description: said }) => {
      const body = { transfers: transfers.map((transfer) => ({ ...transfer })), description: said };
      done(await propose.mutateAsync({ params: { id: props.treasury.id }, body }));
    },
  });
  return (
    <ProposeFrame id="propose" title={text.propose} description={text.proposeNote} form={form} onClose={props.onClose}>
      <FieldRows
        rows={form.values.transfers}
        onChange={(transfers) => form.set({ transfers })}
        title={text.paymentNumber}
        empty={EMPTY_TRANSFER}
        min={1}
        max={MAX_ROWS}
        add={text.addPayment}
      >
        {({ token, recipient, amount }, change) => (
          <>
            <TextField
              label={text.recipient}
              required
              mono
              value={recipient}
              onChange={(next) => change({ recipient: next })}
            />
            <div className="grid">
              <TextField
                label={text.amount}
                required
                inputMode="decimal"
                value={amount}
                onChange={(next) => change({ amount: next })}
              />
              <SelectField
                label={text.token}
                options={tokenOptions}
                value={token}
                onChange={(next) => change({ token: next })}
              />
            </div>
          </>
        )}
      </FieldRows>
      <TextField {...description} {...form.field('description')} />
    </ProposeFrame>
  );
}

interface CallValues {
  readonly contractAddress: string;
  readonly entrypoint: string;
  readonly calldata: string;
}

const EMPTY_CALL: CallValues = { contractAddress: '', entrypoint: '', calldata: '' };

export function CallsDialog(props: DialogProps) {
  const text = useWords(words);
  const done = useProposed(props);
  const description = useDescription();
  const propose = useChange('POST /treasuries/{id}/transactions', { refreshes: [PROPOSALS] });
  const form = useForm<{ calls: readonly CallValues[]; description: string }>({
    initial: { calls: [EMPTY_CALL], description: '' },
    onSubmit: async ({ calls, description: said }) => {
      const body = {
        calls: calls.map(({ contractAddress, entrypoint, calldata }) => ({
          contractAddress: contractAddress.trim(),
          entrypoint: entrypoint.trim(),
          calldata: calldata.split(/[\s,]+/).filter((felt) => felt !== ''),
        })),
        description: said,
      };
      done(await propose.mutateAsync({ params: { id: props.treasury.id }, body }));
    },
  });
  return (
    <ProposeFrame
      id="propose-calls"
      title={text.proposeCalls}
      description={text.proposeCallsNote}
      form={form}
      onClose={props.onClose}
    >
      <FieldRows
        rows={form.values.calls}
        onChange={(calls) => form.set({ calls })}
        title={text.callNumber}
        empty={EMPTY_CALL}
        min={1}
        max={MAX_ROWS}
        add={text.addCall}
      >
        {({ contractAddress, entrypoint, calldata }, change) => (
          <>
            <TextField
              label={text.contract}
              required
              mono
              value={contractAddress}
              onChange={(next) => change({ contractAddress: next })}
            />
            <TextField
              label={text.entrypoint}
              required
              mono
              placeholder="approve"
              value={entrypoint}
              onChange={(next) => change({ entrypoint: next })}
            />
            <TextAreaField
              label={text.calldata}
              hint={text.calldataHint}
              optional
              mono
              value={calldata}
              onChange={(next) => change({ calldata: next })}
            />
          </>
        )}
      </FieldRows>
      <TextField {...description} {...form.field('description')} />
    </ProposeFrame>
  );
}

export function PolicyDialog(props: DialogProps) {
  const { treasury, onClose } = props;
  const text = useWords(words);
  const done = useProposed(props);
  const description = useDescription();
  const params = { id: treasury.id };
  const open = useRead('GET /treasuries/{id}/policy', { params }).data?.openProposalId;
  const change = useChange('PATCH /treasuries/{id}/policy', {
    refreshes: [PROPOSALS, 'GET /treasuries/{id}/policy'],
  });
  const form = useForm<PolicyValues & { description: string }>({
    initial: { ...policyValues(treasury), description: '' },
    onSubmit: async ({ description: said, ...policy }) =>
      done(await change.mutateAsync({ params, body: { ...policyBody(policy), description: said } })),
  });
  return (
    <ProposeFrame
      id="propose-policy"
      title={text.proposePolicy}
      description={text.proposePolicyNote(treasury.threshold)}
      form={form}
      onClose={onClose}
    >
      {open && <Note tone="warn">{text.replacesOpen}</Note>}
      <PolicyFields values={form.values} errors={form.errors} onChange={(changes) => form.set(changes)} />
      <TextField {...description} {...form.field('description')} />
    </ProposeFrame>
  );
}
