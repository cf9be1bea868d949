import { turn } from '@sonde/sdk/internal'
import type { Agent } from '../agent.ts'
import { LiveRound } from './live-round.ts'
import type { LiveStream } from './live-stream.ts'
import { StreamSlots } from './stream-slots.ts'

/** All live streams of a server: their places, and the rounds in which they are served one after the other. */
export class LiveStreams {
  readonly places: StreamSlots
  readonly #agent: Agent
  readonly #streams = new Set<LiveStream>()
  #timer: NodeJS.Timeout | undefined
  #isInRound = false
  #isEnded = false

  constructor(agent: Agent) {
    this.#agent = agent
    this.places = new StreamSlots(agent)
  }

  /** Serves a stream from now on. */
  add(stream: LiveStream): void {
    if (this.#isEnded) {
      stream.end()
      return
    }
    this.#streams.add(stream)
    this.#schedule()
  }

  remove(stream: LiveStream): void {
    this.#streams.delete(stream)
  }

  /** Serving a stream failed by a fault of Sonde's own: it alone ends, and its client connects again. */
  failed(stream: LiveStream, error: unknown): void {
    this.#agent.faults.caught('live', error)
    stream.end()
  }

  /** Ends every stream, and whichever would join later. */
  end(): void {
    this.#isEnded = true
    for (const stream of this.#streams) stream.end()
  }

  #schedule(): void {
    clearTimeout(this.#timer)
    if (this.#isInRound || this.#streams.size === 0) return
    const nowMs = Date.now()
    const waitMs = Math.min(...[...this.#streams].map((stream) => stream.waitMs(nowMs)))
    this.#timer = setTimeout(() => void this.#round(), waitMs)
  }

  /** A round that takes longer than a step delays the next one, which then covers more steps: rounds never overlap. */
  async #round(): Promise<void> {
    this.#isInRound = true
    const round = new LiveRound(this.#agent)
    for (const stream of this.#streams) {
      if (stream.waitMs(round.nowMs) > 0) continue
      await stream.advance(round).catch((error: unknown) => this.failed(stream, error))
      if (turn.isOver()) await turn.next()
    }
    this.#isInRound = false
    this.#schedule()
  }
}
