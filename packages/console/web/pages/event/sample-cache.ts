import type { ApiError } from '../../api/client.ts'
import { type LaneSamples, pointsFor, type SamplesAnswer, type SamplesRequest } from '../../api/event-samples.ts'
import { covers, lengthOf, type Span } from './view-span.ts'

/** Samples of a lane and the stretch that they were asked for. */
interface Held {
  readonly span: Span
  readonly points: number
  readonly samples: LaneSamples
}

/** What of an event's samples is here. */
interface LaneHeld {
  readonly whole?: Held
  /** Of a part of the window, with more points in it. */
  readonly part?: Held
}

/** What the cache is told when something came. */
export interface CacheNews {
  readonly onSamples: (keys: readonly string[]) => void
  readonly onError: (error: ApiError | undefined) => void
}

/** A view is asked for with this much of its own length at each side, so that panning has something to show. */
const MARGIN_LENGTHS = 1
/** A view of which at least so many points a pixel are here needs no more. */
const POINTS_PER_PX = 0.5

/**
 * Samples of one event: all lanes over the whole window, coarse, and those that are looked at over the view, fine. Of
 * each question only the newest is followed.
 */
export class SampleCache {
  readonly #event: number
  readonly #ask: (request: SamplesRequest) => Promise<SamplesAnswer>
  readonly #news: CacheNews
  readonly #held = new Map<string, LaneHeld>()
  readonly #asked = { whole: '', part: '' }

  constructor(event: number, ask: (request: SamplesRequest) => Promise<SamplesAnswer>, news: CacheNews) {
    this.#event = event
    this.#ask = ask
    this.#news = news
  }

  /** The best that is here of a lane for a view. */
  samplesFor(key: string, view: Span): LaneSamples | undefined {
    const { whole, part } = this.#held.get(key) ?? {}
    // What has every sample has the neighbours of the view too, however far they are.
    if (whole?.samples.isExact && covers(whole.span, view)) return whole.samples
    return part && covers(part.span, view) ? part.samples : whole?.samples
  }

  /** What is here of a lane over the whole window. */
  wholeOf(key: string): LaneSamples | undefined {
    return this.#held.get(key)?.whole?.samples
  }

  /** Asks for all lanes over the whole window, where it is another than the last one that was asked for. */
  async loadWhole(keys: readonly string[], window: Span, widthPx: number): Promise<void> {
    await this.#load('whole', keys, window, pointsFor(keys.length, widthPx))
  }

  /** Asks for lanes over a view and its sides, where what is here is too coarse. */
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
    // The whole comes first.
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
      // A view that moved on meanwhile asked anew; what came for the one before is still true, and better than nothing.
      for (const samples of answer.lanes) {
        const before = this.#held.get(samples.key)
        this.#held.set(samples.key, { ...before, [level]: { span, points, samples } })
      }
      this.#news.onError(undefined)
      this.#news.onSamples(answer.lanes.map(({ key }) => key))
    } catch (error) {
      // It may be asked again.
      if (this.#asked[level] === question) this.#asked[level] = ''
      this.#news.onError(error as ApiError)
    }
  }
}
