import { Dialog as Base } from '@base-ui/react/dialog';
import { X } from 'lucide-react';
import { type ReactNode, type SubmitEvent, useId, useState } from 'react';
import { Button } from './button.tsx';
import { TextField } from './fields.tsx';
import { useWords } from './language.ts';
import { ErrorNote } from './page.tsx';
import { words } from './words.ts';

export interface DialogProps {
  open: boolean;
  onClose: () => void;
  title: string;
  description?: ReactNode;
  children?: ReactNode;
  /** The buttons. */
  footer?: ReactNode;
  size?: 's' | 'm' | 'l';
}

export function Dialog({ open, onClose, title, description, children, footer, size = 'm' }: DialogProps) {
  const text = useWords(words);
  return (
    <Base.Root open={open} onOpenChange={(next) => !next && onClose()}>
      <Base.Portal>
        <Base.Backdrop className="backdrop" />
        <Base.Viewport className="dialog-place">
          <Base.Popup className={`dialog ${size}`}>
            <div className="dialog-head">
              <Base.Title>{title}</Base.Title>
              <Base.Close className="button quiet m square" aria-label={text.close}>
                <X size={16} aria-hidden />
              </Base.Close>
            </div>
            <div className="dialog-body stack">
              {description && (
                <Base.Description className="soft" render={<div />}>
                  {description}
                </Base.Description>
              )}
              {children}
            </div>
            {footer && <div className="dialog-foot">{footer}</div>}
          </Base.Popup>
        </Base.Viewport>
      </Base.Portal>
    </Base.Root>
  );
}

export interface ConfirmDialogProps {
  open: boolean;
  onClose: () => void;
  title: string;
  /** What will happen. */
  children?: ReactNode;
  /** The verb, such as "Revoke key". */
  action: string;
  kind?: 'primary' | 'danger';
  /** For what cannot be undone: the text that has to be typed first. */
  typed?: string;
  /** The dialog closes when it succeeds and shows the error when it fails. */
  onConfirm: () => Promise<unknown>;
}

export function ConfirmDialog(props: ConfirmDialogProps) {
  const { open, onClose, title, children, action, kind = 'danger', typed, onConfirm } = props;
  const text = useWords(words);
  const form = useId();
  const [pending, setPending] = useState(false);
  const [error, setError] = useState<Error>();
  const [value, setValue] = useState('');
  const close = () => {
    setError(undefined);
    setValue('');
    onClose();
  };
  const confirm = async (event: SubmitEvent) => {
    event.preventDefault();
    setPending(true);
    setError(undefined);
    try {
      await onConfirm();
      close();
    } catch (failure) {
      setError(failure instanceof Error ? failure : new Error(String(failure)));
    } finally {
      setPending(false);
    }
  };
  const footer = (
    <>
      <Button onClick={close}>{text.cancel}</Button>
      <Button type="submit" form={form} kind={kind} pending={pending} disabled={typed !== undefined && value !== typed}>
        {action}
      </Button>
    </>
  );
  return (
    <Dialog open={open} onClose={close} title={title} size="s" footer={footer}>
      <form id={form} className="stack" onSubmit={confirm}>
        {children && <div>{children}</div>}
        {typed !== undefined && (
          <TextField label={text.typeToConfirm(typed)} value={value} onChange={setValue} autoComplete="off" />
        )}
        <ErrorNote error={error} />
      </form>
    </Dialog>
  );
}
