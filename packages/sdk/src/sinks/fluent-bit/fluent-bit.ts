import { checkOptions } from '../../config/check-options.ts'
import { Endpoints } from '../../delivery/connection/endpoints.ts'
import { packBody } from '../../delivery/connection/pack-body.ts'
import { RateLimit } from '../../delivery/connection/rate-limit.ts'
import { socketAddresses } from '../../delivery/connection/socket-address.ts'
import { warnIfUnverified } from '../../delivery/connection/tls.ts'
import { type DeliverySink, delivery } from '../../delivery/delivery.ts'
import type { SendResult } from '../../delivery/sender.ts'
import { EventChunks, forwardMessage } from '../../wire/forward/message.ts'
import { checkForward, type FluentBitOptions, type ForwardOptions, forwardEntries } from './config.ts'
import { encodeMessages, type ForwardMessage } from './encode.ts'
import { type ForwardAddress, ForwardEndpoint } from './endpoint.ts'

/** Limit of an attempt without an option. Unit: milliseconds. */
const TIMEOUT_MS = 10_000

/**
 * Sends records to Fluent Bit, Fluentd or any other server of Fluent Forward v1.
 *
 * @throws SondeError `FWD_OPTION` for an option that is not allowed, `DLV_CONNECTION` for a file or variable that
 * cannot be read, `DLV_OPTION` for a limit out of range.
 */
export function createFluentBit(options: FluentBitOptions): DeliverySink {
  const forward = checkOptions(forwardEntries, options, 'FWD_OPTION', ' of fluentBit')
  checkForward(forward)
  const { name = 'fluent_bit', timeoutMs = TIMEOUT_MS, timers } = options
  warnIfUnverified(name, forward.tls ?? {})
  const endpoints = forwardEndpoints(forward, timeoutMs)
  const rate = new RateLimit(forward.rateLimitBytesPerSecond, timers)
  const chunks = new EventChunks(forward)
  return delivery<readonly ForwardMessage[]>({
    name: 'fluent_bit',
    ...options,
    encode: (batches) => encodeMessages(chunks, batches),
    send: new Endpoints(endpoints, timers).send((messages, endpoint, signal) =>
      send(messages, { endpoint, forward, rate, chunks }, signal),
    ),
    waitMs: () => rate.waitMs,
    close: () => {
      for (const endpoint of endpoints) endpoint.close()
    },
  })
}

/** The servers of a destination, the preferred server first. */
export function forwardEndpoints(
  options: ForwardOptions,
  timeoutMs: number,
): readonly [ForwardEndpoint, ...ForwardEndpoint[]] {
  const { path, host = '', port = 0, endpoints } = options
  const [first, ...further]: readonly [ForwardAddress, ...ForwardAddress[]] =
    path === undefined ? socketAddresses({ host, port }, endpoints) : [{ path }]
  // The attempt itself ends without words: the handshake ends before it.
  const open = (address: ForwardAddress) => new ForwardEndpoint(address, options, timeoutMs / 2)
  return [open(first), ...further.map(open)]
}

interface Way {
  readonly endpoint: ForwardEndpoint
  readonly forward: ForwardOptions
  readonly rate: RateLimit
  readonly chunks: EventChunks
}

/** Sends the messages that no attempt before has delivered. */
async function send(
  messages: readonly ForwardMessage[],
  { endpoint, forward, rate, chunks }: Way,
  signal: AbortSignal,
): Promise<SendResult> {
  const { mode = 'packed_forward', compression = 'none', requireAck = true } = forward
  const left = messages.filter(({ isTaken }) => !isTaken)
  const isCompressed = compression === 'gzip'
  const pieces = await Promise.all(
    left.map(async (message) => {
      if (isCompressed) message.packed ??= packBody(message.events, 'gzip')
      const packed = await message.packed
      const events = packed === undefined ? message.events : bufferOf(packed)
      return forwardMessage(
        { ...message, events },
        { mode, isCompressed, ...(requireAck ? { chunk: message.id } : {}) },
      )
    }),
  )
  const all = pieces.flat()
  rate.spend(all.reduce((bytes, piece) => bytes + piece.length, 0))
  const byId = new Map(requireAck ? left.map((message) => [message.id, message]) : [])
  await endpoint.send(
    all,
    new Set(byId.keys()),
    (id) => {
      const message = byId.get(id)
      if (message !== undefined) message.isTaken = true
    },
    signal,
  )
  for (const message of messages) {
    if (!message.isReleased) chunks.release(message)
    message.isReleased = true
  }
  return { outcome: 'ok' }
}

/** The same memory as a Buffer. */
function bufferOf({ buffer, byteOffset, byteLength }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength)
}
