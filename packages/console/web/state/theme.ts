import { createValueStore, useStore } from './value-store.ts'

/** A theme that was chosen; undefined follows the system. */
export type Theme = 'light' | 'dark'

const STORAGE_KEY = 'sonde.theme'
const prefersDark = typeof matchMedia === 'undefined' ? undefined : matchMedia('(prefers-color-scheme: dark)')

function currentTheme(): Theme {
  const chosen = document.documentElement.dataset.theme
  if (chosen === 'light' || chosen === 'dark') return chosen
  return prefersDark?.matches ? 'dark' : 'light'
}

const themeStore = createValueStore<Theme>(typeof document === 'undefined' ? 'light' : currentTheme())

/** Follows the system's theme as long as none was chosen. */
export function followSystemTheme(): void {
  prefersDark?.addEventListener('change', () => themeStore.set(currentTheme()))
}

/** The theme that is drawn now. */
export function useTheme(): Theme {
  return useStore(themeStore)
}

/** Changes to the other theme and remembers it. */
export function toggleTheme(): void {
  const next = themeStore.get() === 'dark' ? 'light' : 'dark'
  document.documentElement.dataset.theme = next
  themeStore.set(next)
  try {
    localStorage.setItem(STORAGE_KEY, next)
  } catch {
    // Storage is refused in some privacy modes; the choice then lasts as long as the page.
  }
}
