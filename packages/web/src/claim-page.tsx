import { type ReactNode, useEffect, useMemo, useRef, useState } from 'react';
import type { Explorers } from './claim/gift.ts';
import type { Screen } from './claim/screen.ts';
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
        <LanguageSwitch language={language} onChange={change} />
      </header>
      <main>
        <Shown screen={screen} actions={actions} code={code} />
      </main>
    </PageContext>
  );
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
}

/** The first screen of a visit does not take the focus. */
function Shown({ screen, actions, code }: ShownProps): ReactNode {
  const name = screen.at === 'error' ? screen.errorCode : screen.at;
  const first = useRef(name);
  const { texts } = usePage();
  return (
    <Step key={name} title={titleOf(screen, texts)} takesFocus={name !== first.current}>
      <CurrentStep screen={screen} actions={actions} code={code} />
    </Step>
  );
}
