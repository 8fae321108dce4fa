import { signal } from '@preact/signals';

type Emoji = Readonly<Record<string, string>>;

const loaded = signal<Emoji | null>(null);
let isLoading = false;

/** The emoji of a tag that is a short code; null for other tags and until the list is loaded. */
export function emojiOf(tag: string): string | null {
  if (loaded.value === null && !isLoading) {
    isLoading = true;
    import('virtual:emoji').then(
      (module) => (loaded.value = module.default),
      // Without the list, tags stay text. The next page load tries again.
      () => undefined,
    );
  }
  const { value } = loaded;
  return value !== null && Object.hasOwn(value, tag) ? value[tag]! : null;
}
