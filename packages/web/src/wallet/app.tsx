import { type ReactNode, useCallback, useEffect, useMemo, useRef, useState } from 'react';
import type { KeyValueStorage } from '../claim/saved-redeem.ts';
import { deviceWallets } from '../claim/saved-wallet.ts';
import { languages } from '../language/language.ts';
import { PageContext } from '../steps/page-context.ts';
import { Step } from '../steps/step.tsx';
import { setLanguage, useLanguage, useWords } from '../ui/language.ts';
import { Backup } from './backup.tsx';
import { Buy } from './buy.tsx';
import { type View, type WalletContext, WalletProvider } from './context.tsx';
import { Home, Receive } from './home.tsx';
import { Send } from './send.tsx';
import {
  clientOf,
  isSignedOut,
  loadSession,
  nameOfOrganization,
  type Opened,
  openWithPasskey,
  openWithPassphrase,
  type Session,
  saveSession,
} from './session.ts';
import { SignIn } from './sign-in.tsx';
import { Solana } from './solana.tsx';
import { words } from './words.ts';

interface WalletAppProps {
  readonly baseUrl: string;
  readonly storage: KeyValueStorage;
}

export function WalletApp({ baseUrl, storage }: WalletAppProps): ReactNode {
  const text = useWords(words);
  const language = useLanguage();
  const [session, setSession] = useState(loadSession);
  const [wasSignedOut, setSignedOut] = useState(false);
  const change = useCallback((next: Session | undefined) => {
    saveSession(next);
    setSession(next);
  }, []);
  /** After a recovery code there is no passkey to ask: what opens the key stays in memory. */
  const held = useRef<Opened | undefined>(undefined);
  const enter = (opened: Opened | Session, keeps: boolean) => {
    held.current = keeps && 'encryptKey' in opened ? opened : undefined;
    setSignedOut(false);
    change('session' in opened ? opened.session : opened);
  };
  const leave = (isOver: boolean) => {
    held.current = undefined;
    setSignedOut(isOver);
    change(undefined);
  };
  const page = useMemo(() => ({ texts: languages[language], explorers: {} }), [language]);
  return (
    <PageContext value={page}>
      <header>
        {session?.recipient.brand?.logoUrl && (
          <img
            className="logo"
            src={new URL(session.recipient.brand.logoUrl).pathname}
            alt={nameOfOrganization(session.recipient)}
            height={48}
          />
        )}
        <button
          type="button"
          className="quiet"
          lang={language === 'en' ? 'es' : 'en'}
          onClick={() => setLanguage(language === 'en' ? 'es' : 'en')}
        >
          {text.language}
        </button>
      </header>
      <main>
        {session ? (
          <Inside
            key={session.recipient.id}
            {...{ baseUrl, storage, session }}
            held={held}
            onChange={change}
            onLeave={leave}
          />
        ) : (
          <Step title={text.signIn} takesFocus={false}>
            <SignIn {...{ baseUrl, storage, wasSignedOut }} onEnter={enter} />
          </Step>
        )}
      </main>
    </PageContext>
  );
}

interface InsideProps extends WalletAppProps {
  readonly session: Session;
  readonly held: { current: Opened | undefined };
  readonly onChange: (session: Session | undefined) => void;
  readonly onLeave: (isOver: boolean) => void;
}

const views: Readonly<Record<View, () => ReactNode>> = {
  home: Home,
  receive: Receive,
  send: Send,
  solana: Solana,
  buy: Buy,
  more: Backup,
};

function Inside({ baseUrl, storage, session, held, onChange, onLeave }: InsideProps): ReactNode {
  const text = useWords(words);
  const [view, show] = useState<View>('home');
  const first = useRef(true);
  useEffect(() => {
    first.current = false;
  }, []);
  useBrand(session);
  const known = deviceWallets(storage).find(({ id }) => id === session.recipient.id);
  const asksPassphrase = held.current === undefined && known?.recoverySecret !== undefined;
  const context: WalletContext = useMemo(
    () => ({
      ...{ baseUrl, session, storage, asksPassphrase, show, client: clientOf(baseUrl, session) },
      open: async (passphrase) => {
        if (held.current) return { ...held.current, session };
        if (passphrase !== undefined) return openWithPassphrase(baseUrl, session, passphrase);
        const opened = await openWithPasskey(baseUrl, storage, known);
        if (opened.session.recipient.id === session.recipient.id) onChange(opened.session);
        return opened;
      },
      update: onChange,
      signOut: () => onLeave(false),
      ends: (error) => {
        if (isSignedOut(error)) onLeave(true);
        return isSignedOut(error);
      },
    }),
    [baseUrl, session, storage, asksPassphrase, held, known, onChange, onLeave],
  );
  const titles = {
    home: nameOf(session, text),
    receive: text.receive,
    send: text.send,
    solana: text.solanaTitle,
    buy: text.buyTitle,
    more: text.more,
  };
  const Shown = views[view];
  return (
    <WalletProvider value={context}>
      <Step key={view} title={titles[view]} takesFocus={!first.current}>
        <Shown />
        {view !== 'home' && (
          <button type="button" className="quiet" onClick={() => show('home')}>
            {text.home}
          </button>
        )}
      </Step>
    </WalletProvider>
  );
}

const nameOf = ({ recipient }: Session, text: { of: (name: string) => string }) =>
  text.of(nameOfOrganization(recipient));

/** The colours of the organisation on the whole page, as on the claim page. */
function useBrand({ recipient }: Session): void {
  const { color, textColor, lightAccent, darkAccent } = recipient.brand ?? {};
  useEffect(() => {
    const { style, classList } = document.documentElement;
    const colors = { color, 'text-color': textColor, 'light-accent': lightAccent, 'dark-accent': darkAccent };
    for (const [name, value] of Object.entries(colors)) style.setProperty(`--brand-${name}`, value ?? '');
    classList.toggle('branded', typeof color === 'string');
  }, [color, textColor, lightAccent, darkAccent]);
}
