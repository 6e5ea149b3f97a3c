import type { Environment } from '@svc/protocol';
import { useLocation } from '@tanstack/react-router';
import { setEnvironment, useEnvironment } from './environment.ts';
import { useNavigateTo } from './navigation.ts';
import { useSession } from './session.tsx';
import { words } from './words/shell.ts';
import { useWords } from './words.ts';

const order: readonly Environment[] = ['development', 'production'];

/** Says on every page which money is meant. */
export function EnvironmentBar() {
  const text = useWords(words);
  const environment = useEnvironment();
  const { environments } = useSession();
  const isConfigured = environments.find(({ name }) => name === environment)?.isConfigured ?? false;
  return (
    <section className="environment-bar" aria-label={text.environment}>
      <strong>{environment === 'production' ? text.live : text.test}</strong>
      <span>
        {environment === 'development' ? text.testNote : isConfigured ? text.liveNote : text.liveUnconfigured}
      </span>
    </section>
  );
}

export function EnvironmentSwitch() {
  const text = useWords(words);
  const environment = useEnvironment();
  const switchTo = useSwitchEnvironment();
  return (
    <fieldset className="environment-switch">
      <legend className="hidden">{text.environment}</legend>
      {order.map((name) => (
        <button key={name} type="button" aria-pressed={name === environment} onClick={() => switchTo(name)}>
          {text.environments[name]}
        </button>
      ))}
    </fieldset>
  );
}

/** Records exist in one environment: from a record's page it leads to the list. */
export function useSwitchEnvironment(): (next: Environment) => void {
  const navigate = useNavigateTo();
  const { pathname } = useLocation();
  return (next) => {
    const [area = '', ...rest] = pathname.split('/').filter(Boolean);
    const list = ['developers', 'settings', 'operator'].includes(area) ? [area, ...rest.slice(0, 1)] : [area];
    const path = next === 'production' && area === 'sandbox' ? '/' : `/${list.join('/')}`;
    setEnvironment(next);
    navigate(`${path}?env=${next}`);
  };
}
