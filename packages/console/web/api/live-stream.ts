import type { HintsAnswer, MetricQuery, NodeAnswer, QueryAnswer, StreamGap } from '@sonde/sdk/api'
import { unmarked } from '../format/marked-text.ts'
import { ApiError } from './client.ts'
import { columnsOfJson } from './decode-columns.ts'
import { followStream } from './follow-stream.ts'

/** News of a stream beside its points. */
export interface StreamNews {
  readonly onNode: (node: NodeAnswer) => void
  readonly onHints: (hints: HintsAnswer) => void
}

/** Callbacks of the owner of a stream. */
export interface StreamHandlers extends StreamNews {
  readonly onPoints: (answer: QueryAnswer) => void
  /** Samples in this span are lost. Samples before and after it are unaffected. */
  readonly onGap: (gap: StreamGap) => void
  /** The server ended the stream with a reason. The stream is reopened later. */
  readonly onFault: (error: ApiError) => void
  /** `open` is false from the moment the connection is lost. */
  readonly onOpen: (open: boolean) => void
}

/** A request for a stream. `afterMs` is the newest time that the page already has. */
export interface StreamRequest {
  readonly stepMs: number
  readonly queries: readonly MetricQuery[]
  readonly afterMs: number
}

/** Longer silence means a dead stream. The server sends its state at least every 10 s. Unit: milliseconds. */
const SILENCE_LIMIT_MS = 25_000

/** Opens a live connection. After a loss it reconnects from the last delivered point, so that no step is missed. */
export function openLiveStream(request: StreamRequest, handlers: StreamHandlers): { readonly close: () => void } {
  let { afterMs } = request
  const question = unmarked(JSON.stringify({ stepMs: request.stepMs, queries: request.queries }))
  return followStream({
    address: () => `/api/v1/stream?q=${shortlyEncoded(question)}&lastEventId=${afterMs}`,
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
 * Encodes only the characters that a query string requires, because many queries come close to the longest address that
 * servers accept.
 */
function shortlyEncoded(text: string): string {
  return text.replace(/[^A-Za-z0-9{}[\]:,=_.~*()!-]/gu, encodeURIComponent)
}
