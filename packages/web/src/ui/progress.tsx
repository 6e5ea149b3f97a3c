export interface ProgressBarProps {
  label: string;
  value: number;
  max: number;
  /** Beside the label, such as "12 of 500". */
  note?: string;
}

export function ProgressBar({ label, value, max, note }: ProgressBarProps) {
  return (
    <div className="progress-field">
      <div className="progress-text">
        <span>{label}</span>
        {note && <span className="soft number">{note}</span>}
      </div>
      <progress className="progress" aria-label={label} value={value} max={max} />
    </div>
  );
}
