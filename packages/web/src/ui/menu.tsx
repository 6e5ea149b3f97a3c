import { Menu as Base } from '@base-ui/react/menu';
import { Check, type LucideIcon } from 'lucide-react';
import type { ReactElement, ReactNode } from 'react';
import { useNavigation } from './link.tsx';

export interface MenuItem {
  readonly label: string;
  readonly icon?: LucideIcon;
  readonly danger?: boolean;
  readonly disabled?: boolean;
  readonly onSelect?: () => void;
  /** A path of the application, instead of `onSelect`. */
  readonly to?: string;
}

export interface MenuChoice {
  readonly label: string;
  readonly value: string;
  readonly options: readonly (readonly [value: string, label: string, note?: string])[];
  readonly onChange: (value: string) => void;
}

export interface MenuProps {
  /** The button, which gets the menu's behaviour. */
  trigger: ReactElement;
  /** Text above the items. */
  header?: ReactNode;
  choices?: readonly MenuChoice[];
  /** Whether a choice closes the menu. */
  closesOnChoice?: boolean;
  items?: readonly (MenuItem | 'line')[];
  align?: 'start' | 'end';
  side?: 'top' | 'bottom';
}

export function Menu(props: MenuProps) {
  const { trigger, header, choices = [], closesOnChoice = false, items = [], align = 'end', side = 'bottom' } = props;
  const { go, href } = useNavigation();
  const follow = (to: string) => (go ? go(to) : location.assign(href(to)));
  return (
    <Base.Root>
      <Base.Trigger render={trigger} />
      <Base.Portal>
        <Base.Positioner className="float" align={align} side={side} sideOffset={4}>
          <Base.Popup className="menu">
            {header && <div className="menu-header">{header}</div>}
            {choices.map(({ label, value, options, onChange }) => (
              <Base.Group key={label}>
                <Base.GroupLabel className="menu-label">{label}</Base.GroupLabel>
                <Base.RadioGroup value={value} onValueChange={onChange}>
                  {options.map(([option, name, note]) => (
                    <Base.RadioItem key={option} value={option} className="menu-item" closeOnClick={closesOnChoice}>
                      <span className="grow">{name}</span>
                      {note && <span className="soft">{note}</span>}
                      <Base.RadioItemIndicator>
                        <Check size={16} aria-hidden />
                      </Base.RadioItemIndicator>
                    </Base.RadioItem>
                  ))}
                </Base.RadioGroup>
                {items.length > 0 && <Base.Separator className="menu-line" />}
              </Base.Group>
            ))}
            {items.map((item, index) =>
              item === 'line' ? (
                // biome-ignore lint/suspicious/noArrayIndexKey: lines have no identity
                <Base.Separator key={index} className="menu-line" />
              ) : (
                <Base.Item
                  key={item.label}
                  className={item.danger ? 'menu-item danger' : 'menu-item'}
                  disabled={item.disabled ?? false}
                  onClick={() => (item.to === undefined ? item.onSelect?.() : follow(item.to))}
                >
                  {item.icon && <item.icon size={16} aria-hidden />}
                  <span className="grow">{item.label}</span>
                </Base.Item>
              ),
            )}
          </Base.Popup>
        </Base.Positioner>
      </Base.Portal>
    </Base.Root>
  );
}
