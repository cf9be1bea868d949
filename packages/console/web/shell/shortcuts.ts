import { WINDOWS } from '../state/time-window.ts'
import { DESTINATIONS } from './navigation.ts'

/** A command of a key. */
export type Command =
  | { readonly kind: 'go'; readonly path: string }
  | { readonly kind: 'window'; readonly windowMs: number }
  | { readonly kind: 'search' | 'keys' | 'live' | 'lines' | 'theme' | 'zone' | 'copy' }

/** A row of the sheet of keys. */
export interface ShortcutRow {
  readonly keys: readonly string[]
  readonly does: string
}

/** A part of the sheet of keys. */
export interface ShortcutGroup {
  readonly title: string
  readonly rows: readonly ShortcutRow[]
}

const SINGLE: ReadonlyMap<string, Command> = new Map(
  Object.entries<Command>({
    '/': { kind: 'search' },
    '?': { kind: 'keys' },
    '.': { kind: 'live' },
    l: { kind: 'lines' },
    d: { kind: 'theme' },
    z: { kind: 'zone' },
    c: { kind: 'copy' },
    ...Object.fromEntries(WINDOWS.map(({ key, windowMs }) => [key, { kind: 'window', windowMs } as const])),
  }),
)

/** The command of a single key; after `g` the key names a page. Undefined if there is none. */
export function shortcutCommand(key: string, isAfterGo: boolean): Command | undefined {
  const lower = key.toLowerCase()
  if (!isAfterGo) return SINGLE.get(lower)
  const path = DESTINATIONS.find((destination) => destination.key === lower)?.path
  return path === undefined ? undefined : { kind: 'go', path }
}

/** Every key in the order of the sheet. */
export const SHORTCUT_GROUPS: readonly ShortcutGroup[] = [
  {
    title: 'Pages',
    rows: [
      { keys: ['Ctrl K', '/'], does: 'Search pages, devices, pods, metrics; go to a time' },
      ...DESTINATIONS.map(({ key, label }) => ({ keys: [`g ${key}`], does: label })),
    ],
  },
  {
    title: 'Time',
    rows: [
      ...WINDOWS.map(({ key, label }) => ({ keys: [key], does: `Window of ${label}` })),
      { keys: ['.'], does: 'Back to live' },
      { keys: ['z'], does: 'UTC or local time' },
    ],
  },
  {
    title: 'A chart that has the focus',
    rows: [
      { keys: ['Tab'], does: 'Next chart' },
      { keys: ['←', '→'], does: 'Cursor one sample; with Shift ten' },
      { keys: ['Page up', 'Page down'], does: 'Window half its length back or on' },
      { keys: ['+', '−'], does: 'Zoom at the cursor' },
      { keys: ['Enter'], does: 'Pin the values at the cursor' },
      { keys: ['Esc'], does: 'Unpin' },
      { keys: ['t'], does: 'The chart as a table' },
    ],
  },
  {
    title: 'The signals of an event',
    rows: [
      { keys: ['[', ']'], does: 'Cursor to the start, to the end' },
      { keys: ['0'], does: 'The whole window' },
      { keys: ['t'], does: 'The samples as a table' },
    ],
  },
  {
    title: 'View',
    rows: [
      { keys: ['l'], does: 'Every line, or like ones as a band' },
      { keys: ['c'], does: 'Copy the link to this view' },
      { keys: ['d'], does: 'Light or dark' },
      { keys: ['?'], does: 'This list' },
    ],
  },
]
