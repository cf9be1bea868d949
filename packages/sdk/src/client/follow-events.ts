import type { StreamEvents } from '../api/answers.ts'
import { SondeError } from '../errors.ts'
import type { ApiRequests, ReadRequest } from './api-requests.ts'
import { FailedRequest } from './read-answer.ts'
import { type SentEvent, SentEventReader } from './sent-event-reader.ts'

const EVENTS_MEDIA_TYPE = 'text/event-stream'
/** Codes of streams that end now, and may be opened again. */
const LATER: ReadonlySet<string> = new Set(['STR_LIMIT', 'QRY_BUSY'])

/** A message of a stream: its event, and the data of that event. */
export type StreamMessage<Name extends keyof StreamEvents = Exclude<keyof StreamEvents, 'fault'>> = {
  readonly [Event in Name]: { readonly event: Event; readonly data: StreamEvents[Event] }
}[Name]

/** A stream to follow. */
export interface Followed<Name extends keyof StreamEvents> {
  /** Its address; the id is that of the last event, and empty at first. */
  readonly address: (lastId: string) => string
  /** Events that are messages; others are left out. */
  readonly events: readonly Name[]
  /** A stream without a byte for this long counts as lost. Unit: milliseconds. */
  readonly silenceMs: number
  readonly signal: AbortSignal | undefined
}

/**
 * Follows a stream. After a loss it is opened again at the last event, so that no step is missed.
 *
 * @throws SondeError an error that another attempt cannot fix; before the first event also the error of the last
 * attempt. The reason of the signal if it is aborted.
 */
export async function* followEvents<Name extends keyof StreamEvents>(
  requests: ApiRequests,
  { address, events, silenceMs, signal }: Followed<Name>,
): AsyncGenerator<StreamMessage<Name>, never> {
  let lastId = ''
  let attempts = 0
  let hasWorked = false
  const names: ReadonlySet<string> = new Set(events)
  for (;;) {
    const request = { address: address(lastId), accept: EVENTS_MEDIA_TYPE, signal }
    try {
      for await (const sent of eventsOf(requests, request, silenceMs)) {
        if (sent.name === 'fault') throw faultOf(sent)
        lastId = sent.lastId
        if (!names.has(sent.name)) continue
        hasWorked = true
        attempts = 0
        yield { event: sent.name, data: dataOf(sent) } as StreamMessage<Name>
      }
      throw lost('it ended')
    } catch (error) {
      if (!(error instanceof FailedRequest)) throw error
      attempts++
      // A stream that worked once is opened again for as long as it is read.
      if (hasWorked) attempts = Math.max(1, Math.min(attempts, requests.retries))
      await requests.pauseOrThrow(error, attempts, signal)
    }
  }
}

/** The events of one connection, until it ends. */
async function* eventsOf(requests: ApiRequests, request: ReadRequest, silenceMs: number): AsyncGenerator<SentEvent> {
  const own = new AbortController()
  const signal = request.signal === undefined ? own.signal : AbortSignal.any([request.signal, own.signal])
  const { body } = await requests.open({ ...request, signal })
  const decoder = new TextDecoder()
  const reader = new SentEventReader()
  const bytes = body?.getReader()
  try {
    for (;;) {
      const { done, value } = (await readWithin(bytes, silenceMs)) ?? { done: true, value: undefined }
      if (done || value === undefined) return
      yield* reader.read(decoder.decode(value, { stream: true }))
    }
  } catch (cause) {
    request.signal?.throwIfAborted()
    throw cause instanceof FailedRequest ? cause : lost('its connection broke', cause)
  } finally {
    own.abort()
  }
}

/** The next bytes. @throws FailedRequest if none arrive for too long. */
async function readWithin(
  bytes: ReadableStreamDefaultReader<Uint8Array> | undefined,
  silenceMs: number,
): Promise<{ done: boolean; value?: Uint8Array | undefined } | undefined> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const silence = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(lost(`it was silent for ${silenceMs} ms`)), silenceMs)
  })
  try {
    return await Promise.race([bytes?.read(), silence])
  } finally {
    clearTimeout(timer)
  }
}

function lost(how: string, cause?: unknown): FailedRequest {
  return new FailedRequest(new SondeError('CLT_STREAM', `the live stream was lost: ${how}`, { cause }), {
    isForLater: true,
  })
}

function dataOf({ name, data }: SentEvent): unknown {
  try {
    return JSON.parse(data)
  } catch (cause) {
    throw lost(`its event ${name} is no JSON`, cause)
  }
}

function faultOf(sent: SentEvent): FailedRequest {
  const { code, message } = dataOf(sent) as StreamEvents['fault']
  return new FailedRequest(new SondeError(code, message), { isForLater: LATER.has(code) })
}
