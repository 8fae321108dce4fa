import { signal } from '@preact/signals';

export type Theme = 'system' | 'light' | 'dark';

const storedAs = 'tocsin.theme';
const themes: readonly Theme[] = ['system', 'light', 'dark'];

const stored = localStorage.getItem(storedAs);

export const theme = signal<Theme>(themes.find((one) => one === stored) ?? 'system');

/** Applies the theme to the page and keeps it for later visits. */
export function chooseTheme(chosen: Theme): void {
  theme.value = chosen;
  document.documentElement.dataset['theme'] = chosen;
  localStorage.setItem(storedAs, chosen);
}

export function nextTheme(): void {
  chooseTheme(themes[(themes.indexOf(theme.value) + 1) % themes.length]!);
}
