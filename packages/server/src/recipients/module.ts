import type { Module } from '../http/module.ts';
import {
  type CreateRecipientDeps,
  createRecipientWallet,
  prepareRecipientWallet,
  recipientWalletOptions,
} from './create-recipient.ts';
import { deleteRecipient, requireRecipient, toRecipient } from './recipient.ts';
import {
  createRecipientChallenge,
  deleteUsedChallenges,
  passkeyChallenge,
  registerPasskey,
  setRecoveryCode,
  signInRecipient,
} from './sign-in.ts';

export type RecipientModuleDeps = CreateRecipientDeps;

type RecipientOperation =
  | 'getRecipientWalletOptions'
  | 'prepareRecipientWallet'
  | 'createRecipientWallet'
  | 'createRecipientChallenge'
  | 'signInRecipient'
  | 'getRecipient'
  | 'createRecipientPasskeyChallenge'
  | 'registerRecipientPasskey'
  | 'setRecoveryCode'
  | 'deleteRecipient';

const FORGET_TASK = 'forget-used-challenges';

export function create(deps: RecipientModuleDeps): Module<RecipientOperation> {
  const { db } = deps;
  return {
    handlers: {
      getRecipientWalletOptions: (call) => recipientWalletOptions(deps, call),
      prepareRecipientWallet: (call) => prepareRecipientWallet(deps, call),
      createRecipientWallet: (call) => createRecipientWallet(deps, call),
      createRecipientChallenge: () => createRecipientChallenge(deps),
      signInRecipient: (call) => signInRecipient(deps, call),
      getRecipient: async ({ caller }) => toRecipient(deps, await requireRecipient(db.reads, caller)),
      createRecipientPasskeyChallenge: (call) => passkeyChallenge(deps, call),
      registerRecipientPasskey: (call) => registerPasskey(deps, call),
      setRecoveryCode: (call) => setRecoveryCode(deps, call),
      deleteRecipient: (call) => deleteRecipient(deps, call),
    },
    jobs: [
      {
        handlers: { [FORGET_TASK]: async () => void (await deleteUsedChallenges(db)) },
        recurring: [{ task: FORGET_TASK, everySeconds: 600 }],
      },
    ],
  };
}
