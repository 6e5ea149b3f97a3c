import { type ReactNode, useEffect, useMemo, useRef, useState } from 'react';
import { type Explorers, nameOf } from './claim/gift.ts';
import type { InvalidClaim, Screen, ValidClaim } from './claim/screen.ts';
import { type ClaimActions, type ClaimDeps, useClaim } from './claim/use-claim.ts';
import { CurrentStep, titleOf } from './current-step.tsx';
import { chooseLanguage, type Language, languages, saveLanguage } from './language/language.ts';
import { PageContext, usePage } from './steps/page-context.ts';
import { Step } from './steps/step.tsx';

interface ClaimPageProps extends ClaimDeps {
  readonly explorers: Explorers;
}

export function ClaimPage({ code, client, storage, explorers }: ClaimPageProps): ReactNode {
  const deps = useMemo(() => ({ code, client, storage }), [code, client, storage]);
  const [screen, actions] = useClaim(deps);
  const [language, setLanguage] = useState(() => chooseLanguage(storage, navigator.languages));
  const texts = languages[language];
  useEffect(() => {
    document.documentElement.lang = language;
  }, [language]);
  const change = (next: Language) => {
    saveLanguage(storage, next);
    setLanguage(next);
  };
  const context = useMemo(() => ({ texts, explorers }), [texts, explorers]);
  return (
    <PageContext value={context}>
      <header>
        <BrandMark screen={screen} />
        <LanguageSwitch language={language} onChange={change} />
      </header>
      <main>
        <Shown screen={screen} actions={actions} code={code} deps={deps} />
      </main>
    </PageContext>
  );
}

/** The logo of the gift's organisation, and its colours on the whole page. They stay once they are known. */
function BrandMark({ screen }: { readonly screen: Screen }): ReactNode {
  const [shown, setShown] = useState<ValidClaim | InvalidClaim | undefined>();
  const claim = ('claim' in screen && screen.claim) || ('about' in screen ? screen.about : undefined);
  useEffect(() => {
    if (claim) setShown(claim);
  }, [claim]);
  const { color, textColor, lightAccent, darkAccent } = shown?.brand ?? {};
  useEffect(() => {
    const { style, classList } = document.documentElement;
    const colors = { color, 'text-color': textColor, 'light-accent': lightAccent, 'dark-accent': darkAccent };
    for (const [name, value] of Object.entries(colors)) style.setProperty(`--brand-${name}`, value ?? '');
    classList.toggle('branded', typeof color === 'string');
  }, [color, textColor, lightAccent, darkAccent]);
  if (!shown?.brand?.logoUrl) return null;
  // The path alone: the page may be read under another name than PUBLIC_URL.
  const { pathname } = new URL(shown.brand.logoUrl);
  return <img className="logo" src={pathname} alt={nameOf(shown)} height={48} />;
}

interface LanguageSwitchProps {
  readonly language: Language;
  readonly onChange: (language: Language) => void;
}

function LanguageSwitch({ language, onChange }: LanguageSwitchProps): ReactNode {
  const other = language === 'en' ? 'es' : 'en';
  return (
    <button type="button" className="quiet" lang={other} onClick={() => onChange(other)}>
      {languages[other].language}
    </button>
  );
}

interface ShownProps {
  readonly screen: Screen;
  readonly actions: ClaimActions;
  readonly code: string;
  readonly deps: ClaimDeps;
}

/** The first screen of a visit does not take the focus. */
function Shown({ screen, actions, code, deps }: ShownProps): ReactNode {
  const name = screen.at === 'error' ? screen.errorCode : screen.at;
  const first = useRef(name);
  const { texts } = usePage();
  return (
    <Step key={name} title={titleOf(screen, texts)} takesFocus={name !== first.current}>
      <CurrentStep screen={screen} actions={actions} code={code} deps={deps} />
    </Step>
  );
}
