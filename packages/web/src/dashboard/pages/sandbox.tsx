import { Compass, FlaskConicalOff } from 'lucide-react';
import { LinkButton } from '../../ui/button.tsx';
import { EmptyState, ErrorNote, PageHeader } from '../../ui/page.tsx';
import { Tabs } from '../../ui/tabs.tsx';
import { useEnvironment } from '../environment.ts';
import { useSearchParam } from '../navigation.ts';
import { explorerUrl } from '../place.ts';
import { type Chain, useSandbox } from '../sandbox.ts';
import { words } from '../words/sandbox.ts';
import { useWords } from '../words.ts';
import { ChainTab } from './sandbox-chain.tsx';
import { FaultsTab } from './sandbox-faults.tsx';
import { MailTab } from './sandbox-mail.tsx';
import { ServicesTab } from './sandbox-services.tsx';
import { UsersTab } from './sandbox-users.tsx';

export default function SandboxPage() {
  const text = useWords(words);
  const environment = useEnvironment();
  const [tab, setTab] = useSearchParam('tab', 'chain');
  const { data: chain, error, refetch } = useSandbox<Chain>('/starknet', true);
  const isOff = error?.status === 404;
  const isOther = environment !== 'development';
  return (
    <>
      <PageHeader
        title={text.title}
        description={text.description}
        actions={
          !isOff &&
          !isOther && (
            <LinkButton icon={Compass} href={explorerUrl}>
              {text.explorer}
            </LinkButton>
          )
        }
      />
      {isOther || isOff ? (
        <EmptyState icon={FlaskConicalOff} title={isOther ? text.otherEnvironment : text.off}>
          {isOther ? text.otherEnvironmentHint : text.offHint}
        </EmptyState>
      ) : (
        <>
          <ErrorNote error={error} retry={() => void refetch()} />
          <Tabs
            label={text.title}
            value={tab}
            onChange={setTab}
            tabs={[
              { value: 'chain', label: text.tabs.chain, content: <ChainTab chain={chain} /> },
              { value: 'faults', label: text.tabs.faults, content: <FaultsTab /> },
              { value: 'services', label: text.tabs.services, content: <ServicesTab /> },
              { value: 'mail', label: text.tabs.mail, content: <MailTab /> },
              { value: 'users', label: text.tabs.users, content: <UsersTab /> },
            ]}
          />
        </>
      )}
    </>
  );
}
