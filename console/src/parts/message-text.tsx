import { signal } from '@preact/signals';
import type { ComponentChild, ComponentType } from 'preact';

/** The Markdown component, which is loaded with the first message that needs it. */
const loadedMarkdown = signal<ComponentType<{ readonly text: string }> | null>(null);
let isLoading = false;

function loadMarkdown(): void {
  if (isLoading) return;
  isLoading = true;
  import('./markdown.tsx').then(
    ({ Markdown }) => (loadedMarkdown.value = Markdown),
    // The text stays readable without Markdown.
    () => undefined,
  );
}

interface MessageTextProps {
  readonly text: string;
  readonly isMarkdown: boolean;
  /** Marks this part wherever it occurs, ignoring case. */
  readonly highlight?: string;
}

/** The text of a message: Markdown if the publisher marked it as such, otherwise text with links. */
export function MessageText({ text, isMarkdown, highlight = '' }: MessageTextProps) {
  if (isMarkdown && highlight === '') {
    loadMarkdown();
    const Loaded = loadedMarkdown.value;
    if (Loaded !== null)
      return (
        <div class="text markdown" dir="auto">
          <Loaded text={text} />
        </div>
      );
  }
  return (
    <p class="text" dir="auto">
      {withLinks(text, highlight)}
    </p>
  );
}

const webAddress = /(https?:\/\/[^\s<>"'`]+[^\s<>"'`.,;:!?)\]}])/;

function withLinks(text: string, highlight: string): ComponentChild[] {
  return text.split(webAddress).map((part, index) => {
    if (index % 2 === 0) return <Highlighted key={index} text={part} part={highlight} />;
    return (
      <a key={index} href={part} target="_blank" rel="noopener noreferrer nofollow">
        {part}
      </a>
    );
  });
}

/** The text with each occurrence of `part` marked. */
function Highlighted({ text, part }: { readonly text: string; readonly part: string }) {
  if (part === '') return <>{text}</>;
  const escaped = part.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);
  const pieces = text.split(new RegExp(`(${escaped})`, 'iu'));
  return <>{pieces.map((piece, index) => (index % 2 === 0 ? piece : <mark key={index}>{piece}</mark>))}</>;
}
