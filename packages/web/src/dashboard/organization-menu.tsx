import type { UseMutationResult } from '@tanstack/react-query';
import { ChevronsUpDown } from 'lucide-react';
import { useEffect } from 'react';
import { Menu } from '../ui/menu.tsx';
import { useToast } from '../ui/toast.tsx';
import { type AnswerTo, type ApiFailure, type InputOf, useChange } from './api.ts';
import { basePath } from './place.ts';
import { useSession } from './session.tsx';
import { words } from './words/shell.ts';
import { useWords } from './words.ts';

/** Tells the browser's other tabs, which have the same session. */
const CHANNEL = 'svc-organization';
type Switch = 'POST /session/organization';

/** The organisation at the top of the sidebar; a menu for a member of several. */
export function OrganizationMenu() {
  const text = useWords(words);
  const toast = useToast();
  const { organization, organizations } = useSession();
  const { mutateAsync } = useSwitchOrganization();
  const name = organization?.name ?? text.noOrganization;
  if (organizations.every(({ id }) => id === organization?.id)) {
    return (
      <p className="nav-organization" title={text.organization}>
        {name}
      </p>
    );
  }
  const choose = (organizationId: string) => {
    if (organizationId === organization?.id) return;
    mutateAsync({ body: { organizationId } }).catch((error: Error) => toast.failed(text.notSwitched, error.message));
  };
  return (
    <Menu
      align="start"
      closesOnChoice
      trigger={
        <button type="button" className="nav-organization" aria-label={text.organizationOf(name)}>
          <span className="grow">{name}</span>
          <ChevronsUpDown size={14} aria-hidden />
        </button>
      }
      choices={[
        {
          label: text.organization,
          value: organization?.id ?? '',
          options: organizations.map((each) => [each.id, each.name, text.roles[each.role]]),
          onChange: choose,
        },
      ]}
    />
  );
}

/** Loads the dashboard anew in every tab, so that nothing of the other organisation stays in memory. */
export function useSwitchOrganization(): UseMutationResult<AnswerTo<Switch>, ApiFailure, InputOf<Switch>> {
  return useChange('POST /session/organization', {
    onSuccess: () => {
      const channel = new BroadcastChannel(CHANNEL);
      channel.postMessage('switched');
      channel.close();
      openOverview();
    },
  });
}

/** A tab that showed one organisation would act in the other. */
export function useFollowOrganization(): void {
  useEffect(() => {
    const channel = new BroadcastChannel(CHANNEL);
    channel.onmessage = openOverview;
    return () => channel.close();
  }, []);
}

const openOverview = () => location.assign(`${basePath}/`);
