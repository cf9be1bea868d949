import type { MetricQuery, QueryAnswer, StreamGap } from '@sonde/sdk/api'
import { moveEdge, serverNowMs, staleAfterMs } from '../state/clock.ts'
import { type ApiError, postQuery } from './client.ts'
import { openLiveStream, type StreamNews } from './live-stream.ts'
import { SampleGrid } from './sample-grid.ts'

/** The span of a frame: live or fixed. */
export type FrameRange =
  | { readonly kind: 'live'; readonly windowMs: number }
  | { readonly kind: 'fixed'; readonly fromMs: number; readonly toMs: number }

/** State of a frame for components. Each change makes a new object. */
export interface FrameSnapshot {
  /** The samples, or undefined before the first answer. */
  readonly grid: SampleGrid | undefined
  /** Rises with every write, because the grid itself is changed in place. */
  readonly revision: number
  /** Why the last request failed. Earlier samples stay. */
  readonly error: ApiError | undefined
  /** Errors of single queries by key. */
  readonly queryErrors: ReadonlyMap<string, ApiError>
  /** Why the server ended the stream; undefined once points arrive again. */
  readonly streamFault: ApiError | undefined
  /** Spans of the window that are missing from the stream, oldest first. */
  readonly streamGaps: readonly StreamGap[]
  /** Whether the stream is open; undefined for a fixed range or before the first try. */
  readonly streamOpen: boolean | undefined
  /** Time of the last change of `streamOpen`, by the clock of the server. */
  readonly streamSinceMs: number
  /** Time of the newest position that was written, 0 before the first. */
  readonly newestMs: number
}

/** Access of a frame to the server and to the paints of the page. */
export interface FrameWorld {
  readonly postQuery: typeof postQuery
  readonly openLiveStream: typeof openLiveStream
  readonly isHidden: () => boolean
  /** Calls `show` before the next paint. */
  readonly nextPaint: (show: () => void) => void
}

const BROWSER: FrameWorld = {
  postQuery,
  openLiveStream,
  isHidden: () => document.hidden,
  nextPaint: (show) => requestAnimationFrame(show),
}

/** Most queries per request and per stream, a limit of the server. */
const QUERY_LIMIT_COUNT = 64
const RETRY_MIN_MS = 1_000
const RETRY_MAX_MS = 15_000
/** Most stored gaps of a stream. The oldest are dropped first. */
const GAP_LIMIT_COUNT = 16
const NO_GAPS: readonly StreamGap[] = []
const NO_NEWS: StreamNews = { onNode: () => undefined, onHints: () => undefined }

/** A stream that updates some queries of a frame. */
interface OpenStream {
  readonly close: () => void
  /** Time of its newest point, by the clock of the server. */
  newestMs: number
  isOpen: boolean | undefined
}

/** A stable key of a query. */
export function queryKey(query: MetricQuery): string {
  return JSON.stringify(query)
}

/**
 * All queries of a page over the same range and step, fetched together and then updated by one stream, or by several if
 * they are too many for one.
 *
 * Components add and remove queries. Queries of the same turn share a request. In a hidden tab the stream is closed; it
 * later resumes at the same position.
 */
export class Frame {
  readonly #range: FrameRange
  readonly #stepMs: number
  readonly #news: StreamNews
  readonly #world: FrameWorld
  readonly #wanted = new Map<
    string,
    { query: MetricQuery; users: number; state: 'new' | 'asked' | 'here' | 'failed'; readonly sinceMs: number }
  >()
  readonly #listeners = new Set<() => void>()
  readonly #queryErrors = new Map<string, ApiError>()
  #snapshot: FrameSnapshot
  #streams: OpenStream[] = []
  /** Until when every stream delivered its points before the streams were closed. */
  #streamedMs = Number.POSITIVE_INFINITY
  #timer: ReturnType<typeof setTimeout> | undefined
  #retryMs = RETRY_MIN_MS
  #writes = 0
  /** Time of the newest written position, shown or not. */
  #newestMs = 0
  #isShownSoon = false
  #isStreamWide = false

  constructor(range: FrameRange, stepMs: number, news: StreamNews, world: FrameWorld = BROWSER) {
    this.#world = world
    this.#range = range
    this.#stepMs = stepMs
    this.#news = news
    this.#snapshot = {
      grid: undefined,
      revision: 0,
      error: undefined,
      queryErrors: this.#queryErrors,
      streamFault: undefined,
      streamGaps: NO_GAPS,
      streamOpen: undefined,
      streamSinceMs: 0,
      newestMs: 0,
    }
  }

  /** Whether no query is wanted. */
  get idle(): boolean {
    return this.#wanted.size === 0
  }

  /** Start of the longest wait for an answer, by the clock of the server; undefined if no query waits. */
  get awaitedSinceMs(): number | undefined {
    const awaited = [...this.#wanted.values()].filter(({ state }) => state === 'new' || state === 'asked')
    return awaited.length === 0 ? undefined : Math.min(...awaited.map(({ sinceMs }) => sinceMs))
  }

  /** Time at which the newest samples become stale; undefined without samples or for a fixed range. */
  get staleFromMs(): number | undefined {
    const { newestMs } = this.#snapshot
    return this.#range.kind === 'live' && newestMs > 0 ? newestMs + staleAfterMs(this.#stepMs) : undefined
  }

  readonly getSnapshot = (): FrameSnapshot => this.#snapshot

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** Adds queries until the returned function is called. */
  want(queries: readonly MetricQuery[]): () => void {
    for (const query of queries) {
      const key = queryKey(query)
      const entry = this.#wanted.get(key)
      if (entry) entry.users++
      else this.#wanted.set(key, { query, users: 1, state: 'new', sinceMs: serverNowMs() })
    }
    this.#schedule(0)
    return () => {
      for (const query of queries) this.#release(queryKey(query))
    }
  }

  /** Repeats failed queries at once. */
  retry(): void {
    for (const entry of this.#wanted.values()) if (entry.state === 'failed') entry.state = 'new'
    this.#queryErrors.clear()
    this.#schedule(0)
  }

  /** Opens the stream in a visible tab and closes it in a hidden tab. */
  setVisible(visible: boolean): void {
    if (!visible) this.#closeStreams()
    else if (this.#snapshot.grid) this.#openStreams()
  }

  /** Ends everything. */
  close(): void {
    clearTimeout(this.#timer)
    this.#closeStreams()
    this.#wanted.clear()
  }

  #release(key: string): void {
    const entry = this.#wanted.get(key)
    if (!entry || --entry.users > 0) return
    this.#wanted.delete(key)
    this.#queryErrors.delete(key)
    this.#snapshot.grid?.remove(key)
    this.#isStreamWide = true
    this.#schedule(0)
  }

  #schedule(delayMs: number): void {
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => void this.#fetchNew(), delayMs)
  }

  async #fetchNew(): Promise<void> {
    const waiting = [...this.#wanted].filter(([, entry]) => entry.state === 'new')
    const fresh = waiting.slice(0, QUERY_LIMIT_COUNT)
    if (fresh.length === 0) {
      // The components of the failed query are gone.
      if (this.#snapshot.error) this.#publish({ error: undefined })
      // The stream still carries unwanted answers.
      if (this.#isStreamWide && this.#streams.length > 0) this.#openStreams()
      return
    }
    for (const [, entry] of fresh) entry.state = 'asked'
    try {
      await this.#ask(fresh.map(([key]) => key))
      this.#retryMs = RETRY_MIN_MS
      if (waiting.length > fresh.length) this.#schedule(0)
      else if (!this.#world.isHidden()) this.#openStreams()
    } catch (error) {
      for (const [, entry] of fresh) if (entry.state === 'asked') entry.state = 'new'
      this.#publish({ error: error as ApiError })
      this.#schedule(this.#retryMs)
      this.#retryMs = Math.min(this.#retryMs * 2, RETRY_MAX_MS)
    }
  }

  /** Sends queries. If the server refuses the request, finds the refused query. */
  async #ask(keys: readonly string[]): Promise<void> {
    const queries = keys.flatMap((key) => this.#wanted.get(key)?.query ?? [])
    const { fromMs, toMs } = this.#bounds()
    let answer: QueryAnswer
    try {
      answer = await this.#world.postQuery({ fromMs, toMs, stepMs: this.#stepMs, queries })
    } catch (error) {
      const { status } = error as ApiError
      if (status < 400 || status >= 500) throw error
      if (keys.length > 1) {
        const middle = keys.length >> 1
        await this.#ask(keys.slice(0, middle))
        await this.#ask(keys.slice(middle))
        return
      }
      const entry = this.#wanted.get(keys[0]!)
      if (entry) entry.state = 'failed'
      this.#queryErrors.set(keys[0]!, error as ApiError)
      this.#publish({})
      return
    }
    for (const key of keys) {
      const entry = this.#wanted.get(key)
      if (entry) entry.state = 'here'
    }
    this.#take(answer, keys)
  }

  #take(answer: QueryAnswer, keys: readonly string[]): void {
    const { fromMs, toMs } = this.#bounds()
    const grid = this.#snapshot.grid ?? new SampleGrid({ stepMs: answer.stepMs, windowMs: toMs - fromMs })
    this.#write(grid, answer, keys)
    // Some queries are no longer wanted.
    for (const key of keys) if (!this.#wanted.has(key)) grid.remove(key)
    this.#publish({ grid, error: undefined, newestMs: this.#newestMs })
  }

  #write(grid: SampleGrid, answer: QueryAnswer, keys: readonly string[]): void {
    grid.write(answer, keys)
    if (++this.#writes % 60 === 0) grid.dropEmptyColumns()
    this.#newestMs = Math.max(this.#newestMs, answer.times[answer.times.length - 1] ?? 0)
  }

  /** Shows everything received since the last paint at once, so that piled-up messages cost a single drawing. */
  #showSoon(stepMs: number): void {
    if (this.#isShownSoon) return
    this.#isShownSoon = true
    this.#world.nextPaint(() => {
      this.#isShownSoon = false
      // `error` stays, because it belongs to queries outside of the stream.
      this.#publish({ streamFault: undefined, newestMs: this.#newestMs })
      moveEdge(stepMs)
    })
  }

  /** Extends the grid to the end of the gap. The empty positions are drawn as a gap. */
  #takeGap(gap: StreamGap): void {
    const { grid, streamGaps } = this.#snapshot
    grid?.extend(gap.toMs)
    const { fromMs } = this.#bounds()
    const kept = [...streamGaps, gap].filter(({ toMs }) => toMs > fromMs)
    this.#publish({ streamGaps: kept.slice(-GAP_LIMIT_COUNT) })
  }

  #openStreams(): void {
    this.#closeStreams()
    const { grid } = this.#snapshot
    if (this.#range.kind !== 'live' || !grid) return
    this.#isStreamWide = false
    // A page that slept longer than its window needs only the window.
    const afterMs = Math.max(Math.min(this.#newestMs, this.#streamedMs), this.#bounds().fromMs)
    const here = [...this.#wanted].filter(([, entry]) => entry.state === 'here')
    for (let from = 0; from < here.length; from += QUERY_LIMIT_COUNT) {
      const part = here.slice(from, from + QUERY_LIMIT_COUNT)
      this.#streams.push(this.#openStream(grid, part, { afterMs, isFirst: from === 0 }))
    }
  }

  #openStream(
    grid: SampleGrid,
    part: readonly (readonly [key: string, { readonly query: MetricQuery }])[],
    { afterMs, isFirst }: { readonly afterMs: number; readonly isFirst: boolean },
  ): OpenStream {
    const keys = part.map(([key]) => key)
    const queries = part.map(([, { query }]) => query)
    // Every stream carries the news of the node.
    const news = isFirst ? this.#news : NO_NEWS
    const { close } = this.#world.openLiveStream(
      { stepMs: grid.stepMs, queries, afterMs },
      {
        onPoints: (answer) => {
          this.#write(grid, answer, keys)
          stream.newestMs = Math.max(stream.newestMs, answer.times.at(-1) ?? 0)
          this.#showSoon(answer.stepMs)
        },
        onGap: (gap) => this.#takeGap(gap),
        onFault: (streamFault) => this.#publish({ streamFault }),
        ...news,
        onOpen: (isOpen) => {
          stream.isOpen = isOpen
          this.#tellOpen()
        },
      },
    )
    const stream: OpenStream = { close, newestMs: afterMs, isOpen: undefined }
    return stream
  }

  /** The frame is open if all its streams are, and closed if one of them is. */
  #tellOpen(): void {
    const states = this.#streams.map(({ isOpen }) => isOpen)
    const isOpen = states.includes(false) ? false : states.includes(undefined) ? undefined : true
    if (isOpen !== undefined && isOpen !== this.#snapshot.streamOpen)
      this.#publish({ streamOpen: isOpen, streamSinceMs: serverNowMs() })
  }

  #closeStreams(): void {
    // Streams may differ by a point. Points that arrive twice are written to the same place.
    if (this.#streams.length > 0) this.#streamedMs = Math.min(...this.#streams.map(({ newestMs }) => newestMs))
    for (const { close } of this.#streams) close()
    this.#streams = []
  }

  #bounds(): { readonly fromMs: number; readonly toMs: number } {
    if (this.#range.kind === 'fixed') return this.#range
    const toMs = serverNowMs()
    return { fromMs: toMs - this.#range.windowMs, toMs }
  }

  #publish(change: Partial<FrameSnapshot>): void {
    this.#snapshot = { ...this.#snapshot, ...change, revision: this.#snapshot.revision + 1 }
    for (const listener of [...this.#listeners]) listener()
  }
}
