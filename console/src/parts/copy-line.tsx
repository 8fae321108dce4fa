import { useState } from 'preact/hooks';
import { Icon } from './icon.tsx';

const confirmedMs = 2_000;

/** A line of code with a button that copies it. */
export function CopyLine({ text, label }: { readonly text: string; readonly label: string }) {
  const [isCopied, setCopied] = useState(false);
  const copy = async (event: MouseEvent) => {
    const button = event.currentTarget as HTMLElement;
    try {
      await navigator.clipboard.writeText(text);
    } catch {
      // Without HTTPS browsers have no clipboard: select the line, so that the user can copy it.
      getSelection()?.selectAllChildren(button.previousElementSibling!);
      return;
    }
    setCopied(true);
    setTimeout(() => setCopied(false), confirmedMs);
  };
  return (
    <div class="copy-line">
      <code tabIndex={0}>{text}</code>
      <button type="button" class="icon-button" aria-label={label} onClick={(event) => void copy(event)}>
        <Icon name={isCopied ? 'check' : 'copy'} />
      </button>
    </div>
  );
}
