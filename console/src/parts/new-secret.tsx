import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { CopyLine } from './copy-line.tsx';
import type { Snippets } from './snippets.ts';

interface NewSecretProps {
  readonly kind: 'key' | 'token' | 'signing secret';
  /** The name that the user gave it. */
  readonly name: string;
  readonly secret: string;
  readonly snippets: Snippets;
  readonly children?: ComponentChildren;
}

/** A secret that cannot be shown again, with lines to paste. Takes the focus, so that it is in view. */
export function NewSecret({ kind, name, secret, snippets, children }: NewSecretProps) {
  const card = useRef<HTMLElement>(null);
  useEffect(() => card.current?.focus(), []);
  return (
    <section class="card new-secret" aria-label={`The new ${kind}`} tabIndex={-1} ref={card}>
      <h3 dir="auto">{name}</h3>
      <p class="soft">Copy the {kind} now: it is shown only once.</p>
      <CopyLine text={secret} label={`Copy the ${kind}`} />
      {snippets.map(([language, line]) => (
        <div key={language}>
          <h4>{language}</h4>
          <CopyLine text={line} label={`Copy the line for ${language}`} />
        </div>
      ))}
      {children}
    </section>
  );
}
