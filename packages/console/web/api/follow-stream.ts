import type { StreamEvents } from '@sonde/sdk/api'
import { parseMarked } from '../format/marked-text.ts'
import { hear } from '../state/clock.ts'
import { scopedAddress } from '../state/node-scope.ts'

/** Time until a lost stream is opened again. It doubles until the stream has worked. Unit: milliseconds. */
const RETRY_MIN_MS = 1_000
const RETRY_MAX_MS = 15_000

/** Options of a followed stream. */
export interface FollowedStream {
  /** Returns the address. Called before each connection. */
  readonly address: () => string
  /** Called with the data of events, by name, and with the id of the last event that has one. */
  readonly takers: {
    readonly [Name in keyof StreamEvents]?: (data: StreamEvents[Name], lastId: string) => void
  }
  /** The event that shows that the stream works. A stream that opens and ends with a fault does not. */
  readonly proof: keyof StreamEvents
  /** A stream without an event for this long counts as lost. Default: it never does. Unit: milliseconds. */
  readonly silenceMs?: number
  /** Called with false at each loss. */
  readonly onOpen?: (isOpen: boolean) => void
}

/**
 * Follows a stream and opens it again after a loss.
 *
 * EventSource would retry by itself, but gives up on an HTTP error and would keep its first address.
 */
export function followStream({ address, takers, proof, silenceMs, onOpen }: FollowedStream): {
  readonly close: () => void
} {
  let source: EventSource | undefined
  let timer: ReturnType<typeof setTimeout> | undefined
  let retryMs = RETRY_MIN_MS
  let isClosed = false
  const drop = (): void => {
    source?.close()
    clearTimeout(timer)
  }
  const lose = (): void => {
    drop()
    // A taker may have closed it.
    if (isClosed) return
    onOpen?.(false)
    timer = setTimeout(connect, retryMs)
    retryMs = Math.min(retryMs * 2, RETRY_MAX_MS)
  }
  const awaitMore = (): void => {
    if (silenceMs === undefined) return
    clearTimeout(timer)
    timer = setTimeout(lose, silenceMs)
  }
  const connect = (): void => {
    const opened = new EventSource(scopedAddress(address()))
    source = opened
    awaitMore()
    opened.onopen = () => onOpen?.(true)
    opened.onerror = lose
    const take = <Name extends keyof StreamEvents>(name: Name): void =>
      opened.addEventListener(name, ({ data, lastEventId }: MessageEvent<string>) => {
        if (name !== 'fault') {
          hear()
          awaitMore()
        }
        if (name === proof) retryMs = RETRY_MIN_MS
        takers[name]?.(parseMarked<StreamEvents[Name]>(data), lastEventId)
        if (name === 'fault') lose()
      })
    for (const name of new Set([...(Object.keys(takers) as (keyof StreamEvents)[]), 'fault' as const])) take(name)
  }
  connect()
  return {
    close: () => {
      isClosed = true
      drop()
    },
  }
}
