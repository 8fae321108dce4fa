interface RowButtonProps {
  readonly text: string;
  /** What the row shows. Screen readers announce it after the text. */
  readonly name: string;
  readonly isBusy?: boolean;
  readonly onClick: () => void;
}

/** A button of a list, in which other rows have buttons with the same text. */
export function RowButton({ text, name, isBusy = false, onClick }: RowButtonProps) {
  return (
    <button type="button" class="button" disabled={isBusy} onClick={onClick}>
      <span>
        {text}
        <span class="hidden">
          : <bdi>{name}</bdi>
        </span>
      </span>
    </button>
  );
}
