import { SvcProvider } from '@svc/react';
import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { StrictMode, useMemo, useState } from 'react';
import { createRoot } from 'react-dom/client';
import { clientOf } from './backend.ts';
import './style.css';
import { WalletScreen } from './wallet.tsx';

const queryClient = new QueryClient();

function App() {
  const [name, setName] = useState(() => sessionStorage.getItem('name') ?? '');
  const client = useMemo(() => (name ? clientOf(name) : undefined), [name]);
  const signIn = (chosen: string) => {
    sessionStorage.setItem('name', chosen);
    // What the last user read is not the next one's.
    queryClient.clear();
    setName(chosen);
  };
  if (!client) return <SignIn onDone={signIn} />;
  return (
    <SvcProvider client={client}>
      <header>
        <h1>Purse</h1>
        <button type="button" className="quiet" onClick={() => signIn('')}>
          Sign out {name}
        </button>
      </header>
      <WalletScreen externalUserId={name} />
    </SvcProvider>
  );
}

function SignIn({ onDone }: { onDone: (name: string) => void }) {
  const [name, setName] = useState('');
  return (
    <form
      className="card hero"
      onSubmit={(event) => {
        event.preventDefault();
        onDone(name.trim());
      }}
    >
      <h1>Purse</h1>
      <p>Choose a name. In this example it stands for your app's own sign-in.</p>
      <label>
        Your name
        <input
          required
          maxLength={40}
          pattern="[A-Za-z0-9 ._\-]+"
          autoComplete="username"
          value={name}
          onChange={({ target }) => setName(target.value)}
        />
      </label>
      <button type="submit" className="main">
        Continue
      </button>
    </form>
  );
}

const root = document.getElementById('root');
if (!root) throw new Error('The page has no #root.');
createRoot(root).render(
  <StrictMode>
    <QueryClientProvider client={queryClient}>
      <App />
    </QueryClientProvider>
  </StrictMode>,
);
