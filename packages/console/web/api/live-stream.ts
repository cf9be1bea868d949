import type { HintsAnswer, MetricQuery, NodeAnswer, QueryAnswer, StreamGap } from '@sonde/sdk/api'
import { ApiError } from './client.ts'
import { columnsOfJson } from './decode-columns.ts'
import { followStream } from './follow-stream.ts'
import { unmarked } from './marked-text.ts'

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

/**
 * One live connection that repairs itself: after a loss it asks again from the last point it delivered, so that no step
 * is missed.
 */
export function openLiveStream(request: StreamRequest, handlers: StreamHandlers): { readonly close: () => void } {
  let { afterMs } = request
  const question = JSON.stringify({ stepMs: request.stepMs, queries: request.queries })
  return followStream({
    address: () => unmarked(`/api/v1/stream?q=${shortlyEncoded(question)}&lastEventId=${afterMs}`),
    proof: 'points',
    silenceMs: SILENCE_LIMIT_MS + request.stepMs,
    onOpen: handlers.onOpen,
    takers: {
      points: (json, lastId) => {
        const answer = columnsOfJson(json)
        afterMs = Math.max(afterMs, Number(lastId) || answer.toMs)
        handlers.onPoints(answer)
      },
      gap: (gap) => {
        afterMs = Math.max(afterMs, gap.toMs)
        handlers.onGap(gap)
      },
      fault: ({ code, message }) => handlers.onFault(new ApiError(code, 0, message)),
      state: handlers.onNode,
      hints: handlers.onHints,
    },
  })
}

/**
 * Encodes what must be in the query part of an address, and no more: many questions come close to what a server takes
 * as one.
 */
function shortlyEncoded(text: string): string {
  return text.replace(/[^A-Za-z0-9{}[\]:,=_.~*()!-]/gu, encodeURIComponent)
}
