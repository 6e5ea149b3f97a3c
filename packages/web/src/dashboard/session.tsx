import type { CurrentSession, Role } from '@svc/protocol';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { createContext, type ReactNode, useContext, useEffect, useMemo } from 'react';
import { ErrorNote, Skeleton } from '../ui/page.tsx';
import { useNavigateTo } from './navigation.ts';
import { type ApiFailure, SESSION_KEY, send } from './request.ts';

export type { Role };

/** In ascending order. */
const roles: readonly Role[] = ['VIEWER', 'DEVELOPER', 'OWNER'];

export interface Session extends CurrentSession {
  readonly role: Role | null;
  /** Whether the role allows what this role may do. The service decides; this hides what it would refuse. */
  can(role: Role): boolean;
}

const SessionContext = createContext<Session | undefined>(undefined);
const STALE_MS = 60_000;

/** Shows its children to a signed-in member, and sends everyone else to the sign-in page. */
export function SessionGate({ children }: { children: ReactNode }) {
  const navigate = useNavigateTo();
  const { data, error, refetch } = useQuery<CurrentSession, ApiFailure>({
    queryKey: SESSION_KEY,
    queryFn: ({ signal }) => send('GET /session', {}, signal) as Promise<CurrentSession>,
    staleTime: STALE_MS,
  });
  const isSignedOut = error?.status === 401;
  useEffect(() => {
    if (isSignedOut) navigate(`/sign-in?next=${encodeURIComponent(location.pathname + location.search)}`, true);
  }, [isSignedOut, navigate]);
  const session = useMemo(() => data && toSession(data), [data]);
  if (session && !isSignedOut) return <SessionContext value={session}>{children}</SessionContext>;
  if (!error || isSignedOut) return <Skeleton lines={8} />;
  return (
    <main className="outside">
      <ErrorNote error={error} retry={() => void refetch()} />
    </main>
  );
}

function toSession(current: CurrentSession): Session {
  const { role } = current.member;
  return { ...current, role, can: (needed) => role !== null && roles.indexOf(role) >= roles.indexOf(needed) };
}

/** Who is signed in. For pages inside the layout. */
export function useSession(): Session {
  const session = useContext(SessionContext);
  if (!session) throw new Error('There is no session outside of the layout.');
  return session;
}

/** Forgets everything of this session, and shows the sign-in page. */
export function useSignOut(): () => Promise<void> {
  const client = useQueryClient();
  const navigate = useNavigateTo();
  return async () => {
    await send('DELETE /session');
    navigate('/sign-in');
    client.clear();
  };
}

/** After signing in, or a change of the member. */
export function useRefreshSession(): () => Promise<void> {
  const client = useQueryClient();
  return () => client.resetQueries({ queryKey: SESSION_KEY });
}
