import { useMemo } from 'react'
import { useLocation } from 'wouter'
import { usePathname, useSearch } from 'wouter/use-browser-location'
import type { FrameRange } from '../api/frame.ts'
import { formatUrl, type IgnoredPart, parseUrl, type UrlState } from './url-state.ts'
import { createValueStore, useStore } from './value-store.ts'

/** A window that the page offers by name. */
export interface WindowChoice {
  readonly label: string
  readonly windowMs: number
  readonly stepMs: number
  /** The key that chooses it. */
  readonly key: string
}

/** The windows of the top bar. The shortest is for sources that are read more than once a second. */
export const WINDOWS: readonly WindowChoice[] = [
  { label: '30 s', windowMs: 30_000, stepMs: 1_000, key: '5' },
  { label: '5 min', windowMs: 300_000, stepMs: 1_000, key: '1' },
  { label: '30 min', windowMs: 1_800_000, stepMs: 2_000, key: '2' },
  { label: '1 h', windowMs: 3_600_000, stepMs: 5_000, key: '3' },
  { label: '24 h', windowMs: 86_400_000, stepMs: 60_000, key: '4' },
]

/** The default window. Unit: milliseconds. */
export const DEFAULT_WINDOW_MS = 300_000

/** The range of tiles and present values: always live, always one second. */
export const RECENT: FrameRange = { kind: 'live', windowMs: 300_000 }
/** Step of {@link RECENT}. */
export const RECENT_STEP_MS = 1_000

const STEPS_MS = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1_800, 3_600].map((seconds) => seconds * 1_000)
const POINTS_MAX = 1_500

/** The finest offered step that gives at most 1 500 points over a span. */
export function stepFor(spanMs: number): number {
  return (
    STEPS_MS.find((stepMs) => spanMs / stepMs <= POINTS_MAX) ?? Math.ceil(spanMs / POINTS_MAX / 3_600_000) * 3_600_000
  )
}

const STORAGE_KEY = 'sonde.window'

function storedWindowMs(): number {
  try {
    const value = Number(localStorage.getItem(STORAGE_KEY))
    return WINDOWS.some(({ windowMs }) => windowMs === value) ? value : DEFAULT_WINDOW_MS
  } catch {
    // Storage is refused in some privacy modes; the window then applies to this tab only.
    return DEFAULT_WINDOW_MS
  }
}

const sharedWindowMs = createValueStore(typeof localStorage === 'undefined' ? DEFAULT_WINDOW_MS : storedWindowMs())

/** Follows the window that another tab chooses. */
export function followOtherTabs(): void {
  window.addEventListener('storage', (event) => {
    if (event.key === STORAGE_KEY) sharedWindowMs.set(storedWindowMs())
  })
}

/** Parts of the address to change; undefined removes a part. */
export type UrlChange = { readonly [Key in keyof UrlState]?: UrlState[Key] | undefined }

/** The address and window of a page, with functions to change them. */
export interface PageState {
  readonly url: UrlState
  /** Ignored parts of the address. */
  readonly ignored: readonly IgnoredPart[]
  readonly range: FrameRange
  readonly stepMs: number
  /** Whether the range follows now. */
  readonly isLive: boolean
  /** Changes the address. Range changes push history; cursor, sort and pins replace it. */
  readonly change: (change: UrlChange, mode: 'push' | 'replace') => void
  /** Follows now with a window of this length. */
  readonly follow: (windowMs: number) => void
  /** Leaves live and shows a span. */
  readonly zoom: (fromMs: number, toMs: number) => void
  /** The address of another page with the same window and zone, and with `more`. */
  readonly hrefTo: (path: string, more?: UrlChange) => string
}

/** The range of a parsed address, with the shared window where it names none. */
export function rangeOf(url: UrlState, fallbackWindowMs: number): FrameRange {
  if (url.fromMs !== undefined && url.toMs !== undefined) return { kind: 'fixed', fromMs: url.fromMs, toMs: url.toMs }
  return { kind: 'live', windowMs: url.rangeMs ?? fallbackWindowMs }
}

/** Length of a range. Unit: milliseconds. */
export function rangeMs(range: FrameRange): number {
  return range.kind === 'live' ? range.windowMs : range.toMs - range.fromMs
}

/** The one hook for the time range and everything else that the address holds. */
export function usePageState(): PageState {
  // Reads the raw search string, because the router decodes it and double escapes would be decoded twice.
  const search = useSearch()
  const path = usePathname()
  const [, navigate] = useLocation()
  const windowMs = useStore(sharedWindowMs)
  return useMemo(() => {
    const { state: url, ignored } = parseUrl(search)
    const range = rangeOf(url, windowMs)
    const spanMs = rangeMs(range)
    const named = range.kind === 'live' ? WINDOWS.find((choice) => choice.windowMs === range.windowMs) : undefined
    const write = (next: UrlState, mode: 'push' | 'replace'): void =>
      // The path has its base already, which the router would add once more.
      navigate(`~${path}${formatUrl(next)}`, { replace: mode === 'replace' })
    const change: PageState['change'] = (part, mode) => write({ ...url, ...part } as UrlState, mode)
    return {
      url,
      ignored,
      range,
      stepMs: url.stepMs ?? named?.stepMs ?? stepFor(spanMs),
      isLive: range.kind === 'live',
      change,
      follow: (length) => {
        rememberWindow(length)
        const { fromMs: _from, toMs: _to, atMs: _at, ...rest } = url
        write({ ...rest, rangeMs: length }, 'push')
      },
      zoom: (fromMs, toMs) => {
        const { rangeMs: _range, ...rest } = url
        write({ ...rest, fromMs: Math.round(fromMs), toMs: Math.round(toMs) }, 'push')
      },
      hrefTo: (place, more) => {
        const { rangeMs, fromMs, toMs, tz } = url
        const kept = { rangeMs, fromMs, toMs, tz, ...more } as UrlState
        return place + formatUrl(kept)
      },
    }
  }, [search, path, navigate, windowMs])
}

function rememberWindow(windowMs: number): void {
  if (!WINDOWS.some((choice) => choice.windowMs === windowMs)) return
  sharedWindowMs.set(windowMs)
  try {
    localStorage.setItem(STORAGE_KEY, String(windowMs))
  } catch {
    // Storage is refused in some privacy modes; the window then applies to this tab only.
  }
}
