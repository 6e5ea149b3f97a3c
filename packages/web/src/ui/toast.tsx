import { Toast as Base } from '@base-ui/react/toast';
import { CircleCheck, TriangleAlert, X } from 'lucide-react';
import { type ReactNode, useMemo } from 'react';
import { useWords } from './language.ts';
import { words } from './words.ts';

const SHOWN_MS = 5_000;

export function ToastProvider({ children }: { children: ReactNode }) {
  return (
    <Base.Provider timeout={SHOWN_MS}>
      {children}
      <Base.Portal>
        <Base.Viewport className="toasts">
          <Toasts />
        </Base.Viewport>
      </Base.Portal>
    </Base.Provider>
  );
}

function Toasts() {
  const text = useWords(words);
  return Base.useToastManager().toasts.map((toast) => (
    <Base.Root key={toast.id} toast={toast} className="toast">
      <Base.Content className="toast-content">
        {toast.type === 'bad' ? (
          <TriangleAlert className="toast-bad" size={16} aria-hidden />
        ) : (
          <CircleCheck className="toast-good" size={16} aria-hidden />
        )}
        <div className="grow">
          <Base.Title className="toast-title" />
          <Base.Description className="soft" />
        </div>
        <Base.Close className="button quiet s square" aria-label={text.dismiss}>
          <X size={14} aria-hidden />
        </Base.Close>
      </Base.Content>
    </Base.Root>
  ));
}

export interface ShowToast {
  /** Something worked. */
  done(title: string, description?: string): void;
  /** Something failed; stays until it is dismissed. */
  failed(title: string, description?: string): void;
}

export function useToast(): ShowToast {
  const { add } = Base.useToastManager();
  return useMemo(
    () => ({
      done: (title, description) => void add({ title, description, type: 'good' }),
      failed: (title, description) => void add({ title, description, type: 'bad', timeout: 0, priority: 'high' }),
    }),
    [add],
  );
}
