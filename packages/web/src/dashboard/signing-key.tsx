import type { SvcWallet } from '@svc/sdk';
import { KeyRound } from 'lucide-react';
import { type SubmitEvent, useState } from 'react';
import { Button } from '../ui/button.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { TextField } from '../ui/fields.tsx';
import { Card, ErrorNote } from '../ui/page.tsx';
import { Hash } from '../ui/values.tsx';
import { currentEnvironment } from './environment.ts';
import { apiUrl, sandboxUrl } from './place.ts';
import { ApiFailure } from './request.ts';
import { useSession } from './session.tsx';
import { words } from './words/treasuries.ts';
import { useWords } from './words.ts';

/** The client library with the member's session in place of keys. Loaded when a key is used. */
export async function sessionSvc() {
  const { createSvc } = await import('@svc/sdk');
  const environment = currentEnvironment();
  return createSvc({
    baseUrl: apiUrl,
    publicKey: environment === 'production' ? 'pk_prod_session' : 'pk_dev_session',
    bearerToken: 'session',
    ...(environment === 'development' && { nodeUrl: `${sandboxUrl}/starknet/rpc` }),
    fetch: (input, init) => {
      const headers = new Headers(init?.headers);
      headers.delete('x-api-key');
      headers.delete('authorization');
      if (String(input).startsWith(apiUrl)) headers.set('x-svc-environment', environment);
      return fetch(input, { ...init, headers, credentials: 'same-origin' });
    },
  });
}

/** A member signs with a wallet of their own: the owner key, opened in this browser. */
export const signerIdOf = (memberId: string): string => `member:${memberId}`;

/** A PIN, or a passkey where the wallet has one. */
export interface OpenedKey {
  readonly wallet: SvcWallet;
  readonly encryptKey: string;
}

type Way = 'pin' | 'passkey';

async function openKey(externalUserId: string, way: Way, pin: string): Promise<OpenedKey> {
  const svc = await sessionSvc();
  const wallet = await svc.getWallet({ externalUserId }).catch((error: unknown) => {
    if (isMissing(error)) return undefined;
    throw error;
  });
  if (wallet) return { wallet, encryptKey: way === 'pin' ? pin : await svc.passkeys.unlock({ externalUserId }) };
  // With a passkey the PIN is the backup, and opens it as well.
  const made = { externalUserId, chain: 'STARKNET', encryptKey: pin, usePasskey: way === 'passkey' } as const;
  return { wallet: await svc.createWallet(made), encryptKey: pin };
}

const isMissing = (error: unknown): boolean =>
  typeof error === 'object' && error !== null && 'code' in error && error.code === 'wallet_not_found';

export interface UnlockDialogProps {
  open: boolean;
  onClose: () => void;
  title: string;
  /** Uses the key; the dialog closes when it succeeds and shows the error when it fails. */
  onOpened: (key: OpenedKey) => Promise<unknown>;
}

export function UnlockDialog({ open, onClose, title, onOpened }: UnlockDialogProps) {
  const text = useWords(words);
  const { member } = useSession();
  const [pin, setPin] = useState('');
  const [pending, setPending] = useState<Way>();
  const [error, setError] = useState<ApiFailure>();
  const use = async (way: Way) => {
    setPending(way);
    setError(undefined);
    try {
      await onOpened(await openKey(signerIdOf(member.id ?? member.email), way, pin));
      setPin('');
      onClose();
    } catch (failed) {
      setError(toFailure(failed));
    } finally {
      setPending(undefined);
    }
  };
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    void use('pin');
  };
  return (
    <Dialog
      open={open}
      onClose={onClose}
      title={title}
      description={text.signNote}
      footer={
        <>
          <Button onClick={() => void use('passkey')} pending={pending === 'passkey'}>
            {text.withPasskey}
          </Button>
          <Button type="submit" form="unlock" kind="primary" pending={pending === 'pin'}>
            {text.unlock}
          </Button>
        </>
      }
    >
      <form id="unlock" className="form" onSubmit={submit}>
        <TextField
          label={text.pin}
          hint={text.pinHint}
          type="password"
          autoComplete="off"
          minLength={4}
          value={pin}
          onChange={setPin}
        />
      </form>
      <ErrorNote error={error} />
    </Dialog>
  );
}

export const toFailure = (error: unknown): ApiFailure =>
  error instanceof ApiFailure
    ? error
    : new ApiFailure('signing_failed', error instanceof Error ? error.message : String(error), 0);

/** Shows the public key that others put into the list of signers. */
export function SigningKeyCard() {
  const text = useWords(words);
  const [isOpen, setOpen] = useState(false);
  const [publicKey, setPublicKey] = useState('');
  const show = async (key: OpenedKey) => {
    const { starkPublicKey } = await import('@svc/sdk');
    setPublicKey(await starkPublicKey(key));
  };
  return (
    <Card
      title={text.key}
      actions={
        <Button icon={KeyRound} onClick={() => setOpen(true)}>
          {text.showKey}
        </Button>
      }
    >
      <p className="soft">{text.keyNote}</p>
      {publicKey !== '' && <Hash value={publicKey} label={text.publicKey} full />}
      <UnlockDialog open={isOpen} onClose={() => setOpen(false)} title={text.showKey} onOpened={show} />
    </Card>
  );
}
