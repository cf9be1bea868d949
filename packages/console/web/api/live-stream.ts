import type { HintsAnswer, MetricQuery, NodeAnswer, QueryAnswer, StreamFault, StreamGap } from '@sonde/sdk/api'
import { hear } from '../state/clock.ts'
import { ApiError } from './client.ts'
import { columnsFromJson } from './decode-columns.ts'
import { parseMarked, unmarked } from './marked-text.ts'

/** What a stream tells beside points, whatever was asked. */
export interface StreamNews {
  readonly onNode: (node: NodeAnswer) => void
  readonly onHints: (hints: HintsAnswer) => void
}

/** What the owner of a stream is told. */
export interface StreamHandlers extends StreamNews {
  readonly onPoints: (answer: QueryAnswer) => void
  /** Samples that cannot be had any more; what came before and after is as it was. */
  readonly onGap: (gap: StreamGap) => void
  /** The server ended the stream and said why; it is asked again after a while. */
  readonly onFault: (error: ApiError) => void
  /** `open` is false from the moment the connection is lost. */
  readonly onOpen: (open: boolean) => void
}

/** What a stream is asked for; `afterMs` is the last time that the page already has. */
export interface StreamRequest {
  readonly stepMs: number
  readonly queries: readonly MetricQuery[]
  readonly afterMs: number
}

/** The server sends its state at least every 10 s; a stream that is silent for longer than this is dead. */
const SILENCE_LIMIT_MS = 25_000
const RETRY_MIN_MS = 1_000
const RETRY_MAX_MS = 15_000

/**
 * One live connection that repairs itself: after a loss it asks again from the last point it delivered, so that no step
 * is missed.
 *
 * EventSource would retry by itself, but gives up on an HTTP error and would keep the first `lastEventId` in its
 * address.
 */
export function openLiveStream(request: StreamRequest, handlers: StreamHandlers): { readonly close: () => void } {
  let source: EventSource | undefined
  let timer: ReturnType<typeof setTimeout> | undefined
  let afterMs = request.afterMs
  let retryMs = RETRY_MIN_MS
  let closed = false
  const question = JSON.stringify({ stepMs: request.stepMs, queries: request.queries })

  const lose = (): void => {
    source?.close()
    source = undefined
    clearTimeout(timer)
    if (closed) return
    handlers.onOpen(false)
    timer = setTimeout(connect, retryMs)
    retryMs = Math.min(retryMs * 2, RETRY_MAX_MS)
  }
  const awaitMore = (): void => {
    clearTimeout(timer)
    timer = setTimeout(lose, SILENCE_LIMIT_MS + request.stepMs)
  }
  const heard = (): void => {
    hear()
    awaitMore()
  }
  const connect = (): void => {
    const address = `/api/v1/stream?q=${shortlyEncoded(question)}&lastEventId=${afterMs}`
    source = new EventSource(unmarked(address))
    awaitMore()
    source.onopen = () => handlers.onOpen(true)
    source.onerror = lose
    source.addEventListener('points', (event: MessageEvent<string>) => {
      heard()
      // Only what delivers is well again: a stream that opens and then ends with a fault waits longer each time.
      retryMs = RETRY_MIN_MS
      const answer = columnsFromJson(event.data)
      afterMs = Math.max(afterMs, Number(event.lastEventId) || answer.toMs)
      handlers.onPoints(answer)
    })
    source.addEventListener('gap', (event: MessageEvent<string>) => {
      heard()
      const gap = parseMarked<StreamGap>(event.data)
      afterMs = Math.max(afterMs, gap.toMs)
      handlers.onGap(gap)
    })
    source.addEventListener('fault', (event: MessageEvent<string>) => {
      const { code, message } = parseMarked<StreamFault>(event.data)
      handlers.onFault(new ApiError(code, 0, message))
      lose()
    })
    source.addEventListener('state', (event: MessageEvent<string>) => {
      heard()
      handlers.onNode(parseMarked<NodeAnswer>(event.data))
    })
    source.addEventListener('hints', (event: MessageEvent<string>) => {
      heard()
      handlers.onHints(parseMarked<HintsAnswer>(event.data))
    })
  }

  connect()
  return {
    close: () => {
      closed = true
      lose()
    },
  }
}

/**
 * Encodes what must be in the query part of an address, and no more: many questions come close to what a server takes
 * as one.
 */
function shortlyEncoded(text: string): string {
  return text.replace(/[^A-Za-z0-9{}[\]:,=_.~*()!-]/gu, encodeURIComponent)
}
