import type { ComponentChildren } from 'preact';

/** A card for a single task. */
export function NarrowCard({ title, children }: { readonly title: string; readonly children: ComponentChildren }) {
  return (
    <section class="card narrow">
      <h1>{title}</h1>
      {children}
    </section>
  );
}

interface SectionProps {
  readonly title: string;
  readonly hint?: string;
  readonly aside?: ComponentChildren;
  readonly children: ComponentChildren;
}

/** A titled part of a page. */
export function Section({ title, hint, aside, children }: SectionProps) {
  return (
    <section class="section" aria-label={title}>
      <header class="section-head">
        <h2>{title}</h2>
        {aside}
      </header>
      {hint !== undefined && <p class="soft">{hint}</p>}
      {children}
    </section>
  );
}

export function Note({ text, isBad = false }: { readonly text: string; readonly isBad?: boolean }) {
  return (
    <p class={`note ${isBad ? 'bad' : 'good'}`} role={isBad ? 'alert' : 'status'}>
      {text}
    </p>
  );
}
