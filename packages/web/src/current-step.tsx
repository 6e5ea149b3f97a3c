import { type ReactNode, useCallback } from 'react';
import type { ClaimErrorCode } from './claim/errors.ts';
import { nameOf } from './claim/gift.ts';
import { deviceWallets } from './claim/saved-wallet.ts';
import { chainNames, type Screen } from './claim/screen.ts';
import type { ClaimActions, ClaimDeps } from './claim/use-claim.ts';
import type { Texts } from './language/texts.ts';
import { AddressStep } from './steps/address-step.tsx';
import { ChainStep, isOffered } from './steps/chain-step.tsx';
import { CodeForm } from './steps/code-form.tsx';
import { ConfirmStep } from './steps/confirm-step.tsx';
import { DoneStep } from './steps/done-step.tsx';
import { ErrorStep } from './steps/error-step.tsx';
import { GiftStep } from './steps/gift-step.tsx';
import { usePage } from './steps/page-context.ts';
import { SendingStep } from './steps/sending-step.tsx';
import { MakingStep, NewWallet, WalletDoneStep } from './steps/wallet-steps.tsx';

interface CurrentStepProps {
  readonly screen: Screen;
  readonly actions: ClaimActions;
  readonly code: string;
  readonly deps: ClaimDeps;
}

export function CurrentStep({ screen, actions, code, deps }: CurrentStepProps): ReactNode {
  const fail = useCallback(
    (errorCode: ClaimErrorCode) =>
      actions.show({ at: 'error', errorCode, ...('claim' in screen && { claim: screen.claim }) }),
    [actions.show, screen],
  );
  const { show, send, startAnother } = actions;
  switch (screen.at) {
    case 'enterCode':
      return <CodeEntry />;
    case 'looking':
      return <div className="wheel" aria-hidden="true" />;
    case 'gift':
      return <GiftStep claim={screen.claim} onNext={() => show({ ...screen, at: 'chain' })} />;
    case 'chain':
      return (
        <ChainStep
          code={code}
          wallet={screen.claim.wallet}
          own={deviceWallets(deps.storage).find(({ orgName }) => orgName === nameOf(screen.claim))}
          onNew={() => show({ ...screen, at: 'newWallet' })}
          onOwn={(address) => show({ ...screen, at: 'confirm', chain: 'starknet', address })}
          onChoose={(chain) => show({ ...screen, at: 'address', chain, text: '' })}
          onBack={() => show({ ...screen, at: 'gift' })}
        />
      );
    case 'newWallet':
      return (
        <NewWallet
          client={deps.client}
          code={code}
          onReady={(draft) => actions.make(screen.claim, draft)}
          onError={fail}
          onBack={() => show({ ...screen, at: 'chain' })}
        />
      );
    case 'making':
      return <MakingStep />;
    case 'walletDone':
      return <WalletDoneStep wallet={screen.wallet} />;
    case 'address':
      return (
        <AddressStep
          chain={screen.chain}
          text={screen.text}
          onText={(text) => show({ ...screen, text })}
          onChain={(chain, text) => show({ ...screen, chain, text })}
          onNext={(address) => show({ ...screen, at: 'confirm', address })}
          onBack={() => show({ at: 'chain', claim: screen.claim })}
        />
      );
    case 'confirm':
      return (
        <ConfirmStep
          {...screen}
          onSend={() => send(screen.claim, screen.chain, screen.address)}
          onBack={() => show({ ...screen, at: 'address', text: screen.address })}
        />
      );
    case 'sending':
      return <SendingStep redeem={screen.redeem} />;
    case 'done':
      return <DoneStep redeem={screen.redeem} onAgain={startAnother} />;
    case 'error':
      return (
        <ErrorStep
          {...screen}
          redeem={screen.redeem}
          about={screen.about}
          hasWallet={deviceWallets(deps.storage).length > 0}
          code={code}
          onAction={() => recover(screen, actions)}
        />
      );
  }
}

function CodeEntry(): ReactNode {
  const { texts } = usePage();
  return (
    <>
      <p>{texts.enterCode.body}</p>
      <CodeForm />
    </>
  );
}

/** Resumes a stopped redeem, returns to the choice of chain, or looks the code up again. */
function recover({ errorCode, redeem, wallet, claim }: Extract<Screen, { at: 'error' }>, actions: ClaimActions): void {
  if (wallet) actions.resumeWallet(wallet, claim);
  else if (redeem && errorCode === 'unclear') actions.startAnother();
  else if (redeem) actions.resume(redeem);
  else if (claim && CHOOSE_AGAIN.has(errorCode)) actions.show({ at: 'chain', claim });
  else actions.lookUpAgain();
}

const CHOOSE_AGAIN: ReadonlySet<string> = new Set([
  'noSolana',
  'addressRefused',
  'walletUsedUp',
  'noNewWallets',
  'tooLate',
]);

export function titleOf(screen: Screen, texts: Texts): string {
  switch (screen.at) {
    case 'looking':
      return texts.looking;
    case 'chain':
      return isOffered(screen.claim.wallet) ? texts.chain.titleOffered : texts.chain.title;
    case 'address':
      return texts.address.title(chainNames[screen.chain]);
    case 'error':
      return texts.errors[screen.errorCode].title;
    default:
      return texts[screen.at].title;
  }
}
