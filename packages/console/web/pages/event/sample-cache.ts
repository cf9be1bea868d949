import type { ApiError } from '../../api/client.ts'
import { type LaneSamples, pointsFor, type SamplesAnswer, type SamplesRequest } from '../../api/event-samples.ts'
import { covers, lengthOf, type Span } from './view-span.ts'

/** Samples of a lane and the span of their request. */
interface CachedSamples {
  readonly span: Span
  readonly points: number
  readonly samples: LaneSamples
}

/** The cached samples of a lane. */
interface LaneHeld {
  readonly whole?: CachedSamples
  /** Samples of a part of the window, with more points. */
  readonly part?: CachedSamples
}

/** Callbacks of the cache. */
export interface CacheNews {
  readonly onSamples: (keys: readonly string[]) => void
  readonly onError: (error: ApiError | undefined) => void
}

/** Margin requested at each side of a view, as a multiple of its length, so that panning shows samples at once. */
const MARGIN_LENGTHS = 1
/** A view with at least this many cached points per pixel is not requested again. */
const POINTS_PER_PX = 0.5

/**
 * Samples of an event: coarse samples of all lanes over the window, and fine samples of the visible lanes over the
 * view. Only the newest request of each level is awaited.
 */
export class SampleCache {
  readonly #event: string
  readonly #ask: (request: SamplesRequest) => Promise<SamplesAnswer>
  readonly #news: CacheNews
  readonly #held = new Map<string, LaneHeld>()
  readonly #asked = { whole: '', part: '' }

  constructor(event: string, ask: (request: SamplesRequest) => Promise<SamplesAnswer>, news: CacheNews) {
    this.#event = event
    this.#ask = ask
    this.#news = news
  }

  /** The best cached samples of a lane for a view. */
  samplesFor(key: string, view: Span): LaneSamples | undefined {
    const { whole, part } = this.#held.get(key) ?? {}
    // Complete samples also include the neighbours outside of the view.
    if (whole?.samples.isExact && covers(whole.span, view)) return whole.samples
    return part && covers(part.span, view) ? part.samples : whole?.samples
  }

  /** The cached samples of a lane over the whole window. */
  wholeOf(key: string): LaneSamples | undefined {
    return this.#held.get(key)?.whole?.samples
  }

  /** Requests all lanes over the whole window, unless that was the last request. */
  async loadWhole(keys: readonly string[], window: Span, widthPx: number): Promise<void> {
    await this.#load('whole', keys, window, pointsFor(keys.length, widthPx))
  }

  /** Requests lanes over a view and its margins if the cached samples are too coarse. */
  async loadPart(keys: readonly string[], view: Span, bounds: Span, widthPx: number): Promise<void> {
    const wanted = keys.filter((key) => this.#isCoarse(key, view, widthPx))
    const sidesMs = lengthOf(view) * MARGIN_LENGTHS
    const span = {
      fromMs: Math.max(bounds.fromMs, view.fromMs - sidesMs),
      toMs: Math.min(bounds.toMs, view.toMs + sidesMs),
    }
    await this.#load('part', wanted, span, pointsFor(wanted.length, (widthPx * lengthOf(span)) / lengthOf(view)))
  }

  #isCoarse(key: string, view: Span, widthPx: number): boolean {
    const { whole, part } = this.#held.get(key) ?? {}
    // The whole window is loaded first.
    if (!whole || (whole.samples.isExact && covers(whole.span, view))) return false
    for (const held of [whole, part]) {
      if (!held || !covers(held.span, view)) continue
      if (held.samples.isExact) return false
      if ((held.points * lengthOf(view)) / lengthOf(held.span) >= widthPx * POINTS_PER_PX) return false
    }
    return true
  }

  async #load(level: 'whole' | 'part', lanes: readonly string[], span: Span, points: number): Promise<void> {
    const question = JSON.stringify([lanes, span, points])
    if (question === this.#asked[level] || lanes.length === 0) return
    this.#asked[level] = question
    try {
      const answer = await this.#ask({ event: this.#event, lanes, ...span, points })
      // If the view has moved on, a new request is under way. The old answer is still valid, so it is kept.
      for (const samples of answer.lanes) {
        const before = this.#held.get(samples.key)
        this.#held.set(samples.key, { ...before, [level]: { span, points, samples } })
      }
      this.#news.onError(undefined)
      this.#news.onSamples(answer.lanes.map(({ key }) => key))
    } catch (error) {
      // Allows the same request again.
      if (this.#asked[level] === question) this.#asked[level] = ''
      this.#news.onError(error as ApiError)
    }
  }
}
