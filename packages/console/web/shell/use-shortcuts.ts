import { useEffect, useRef } from 'react'
import { useLocation } from 'wouter'
import { copyText } from '../components/copy-button.tsx'
import { singleKeysStore } from '../state/single-keys.ts'
import { toggleTheme } from '../state/theme.ts'
import { DEFAULT_WINDOW_MS, type PageState, usePageState } from '../state/time-window.ts'
import { type Command, shortcutCommand } from './shortcuts.ts'

/** Longest pause before the second key of `g n`. Unit: milliseconds. */
const SEQUENCE_LIMIT_MS = 1_500

/** Sheets that keys open. */
export type ShellSheet = 'search' | 'keys' | 'scenarios'

/** Handles the keys of the whole page, except in fields and sheets. */
export function useShortcuts(onSheet: (sheet: ShellSheet) => void): void {
  const page = usePageState()
  const [, navigate] = useLocation()
  const now = useRef({ page, navigate, onSheet })
  now.current = { page, navigate, onSheet }
  useEffect(() => {
    let goUntilMs = 0
    const onKeyDown = (event: KeyboardEvent): void => {
      if (event.defaultPrevented || document.querySelector('dialog[open]')) return
      const { page, navigate, onSheet } = now.current
      if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === 'k') {
        event.preventDefault()
        onSheet('search')
        return
      }
      if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target) || !singleKeysStore.get()) return
      const isAfterGo = event.timeStamp < goUntilMs
      // The second g of `g g` names a page and starts no sequence.
      goUntilMs = event.key === 'g' && !isAfterGo ? event.timeStamp + SEQUENCE_LIMIT_MS : 0
      const command = shortcutCommand(event.key, isAfterGo)
      if (!command) return
      event.preventDefault()
      run(command, page, navigate, onSheet)
    }
    document.addEventListener('keydown', onKeyDown)
    return () => document.removeEventListener('keydown', onKeyDown)
  }, [])
}

const ACTIONS: Readonly<Record<Exclude<Command['kind'], 'go' | 'window' | ShellSheet>, (page: PageState) => void>> = {
  live: (page) => {
    if (!page.isLive) page.follow(DEFAULT_WINDOW_MS)
  },
  lines: (page) => page.change({ view: page.url.view === 'lines' ? undefined : 'lines' }, 'replace'),
  zone: toggleZone,
  theme: toggleTheme,
  copy: () => void copyText(location.href),
}

function run(
  command: Command,
  page: PageState,
  navigate: (path: string) => void,
  onSheet: (sheet: ShellSheet) => void,
): void {
  if (command.kind === 'go') navigate(page.hrefTo(command.path))
  else if (command.kind === 'window') page.follow(command.windowMs)
  else if (command.kind === 'search' || command.kind === 'keys') onSheet(command.kind)
  else ACTIONS[command.kind](page)
}

/** Changes between UTC and the browser's own time. */
export function toggleZone(page: PageState): void {
  page.change({ tz: page.url.tz === 'local' ? undefined : 'local' }, 'replace')
}

function isTyping(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLInputElement ||
    target instanceof HTMLSelectElement ||
    target instanceof HTMLTextAreaElement ||
    (target instanceof HTMLElement && target.isContentEditable)
  )
}
