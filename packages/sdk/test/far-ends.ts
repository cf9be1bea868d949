// Far ends of the sinks that send over a network. A new sink joins the tests of faults by one row.
import type { TestContext } from 'node:test'
import type { DeliverySink } from '../src/index.ts'
import type { DeliveryLimits, Timers } from '../src/internal/index.ts'
import { createEs } from '../src/sinks/es/es.ts'
import { createFluentBit } from '../src/sinks/fluent-bit/fluent-bit.ts'
import { createInflux } from '../src/sinks/influx/influx.ts'
import { createJsonl } from '../src/sinks/jsonl/jsonl.ts'
import { createOtlp } from '../src/sinks/otlp/otlp.ts'
import { createRemoteWrite } from '../src/sinks/remote-write/remote-write.ts'
import { BulkServer } from './bulk-server.ts'
import { ForwardPeer } from './forward-peer.ts'
import { HttpPeer } from './http-peer.ts'
import { OtlpReceiver } from './otlp-receiver.ts'
import { RemoteWritePeer } from './remote-write-peer.ts'

/** The secret of each sink whose protocol needs no handshake for it. */
export const SECRET = 'hush-hush-hush'

/** Options of {@link FarEnd.open}. */
export interface FarEndOptions extends DeliveryLimits {
  /** Default: the loopback address. */
  readonly host?: string
  /** Default: the port of the far end. */
  readonly port?: number
  readonly timers?: Timers
  readonly rateLimitBytesPerSecond?: number
}

/** An honest far end, and the sink that sends to it. */
export interface FarEnd {
  readonly port: number
  /** Whether requests are packed, so that they have few bytes. Default: no. */
  readonly isPacked?: true
  /** Devices of the records that arrived, in the order of their arrival. */
  devices(): readonly string[]
  open(options: FarEndOptions): DeliverySink
}

/** Starts a far end that ends with the test. */
type StartFarEnd = (t: TestContext) => Promise<FarEnd>

/** The far ends by the kind of their sink. */
export const FAR_ENDS: Readonly<Record<string, StartFarEnd>> = {
  jsonl: (t) => http(t, (url, options) => createJsonl({ url, token: SECRET, ...options }), /"device":"(\w+)"/g),
  influx: (t) =>
    http(t, (url, options) => createInflux({ url, bucket: 'b', token: SECRET, ...options }), /device=(\w+)/g),
  async es(t) {
    const [peer, server] = [await HttpPeer.start(t), new BulkServer()]
    peer.answer = server.answer
    return farEnd(
      peer.port,
      () => server.documents.map(({ device }) => String(device)),
      ({ host, port, ...options }) => createEs({ url: `http://${host}:${port}`, token: SECRET, ...options }),
    )
  },
  async otlp(t) {
    const receiver = await OtlpReceiver.start(t)
    return farEnd(
      receiver.port,
      () => receiver.points().map(({ attributes }) => String(attributes.device)),
      ({ host, port, ...options }) => createOtlp({ url: `http://${host}:${port}`, token: SECRET, ...options }),
    )
  },
  async remote_write(t) {
    const peer = await RemoteWritePeer.start(t)
    const isValue = ({ value }: { readonly value: number }) => !Number.isNaN(value)
    const end = farEnd(
      peer.http.port,
      () => peer.samples.filter(isValue).map(({ labels }) => labels.device ?? ''),
      ({ host, port, ...options }) => createRemoteWrite({ url: `http://${host}:${port}`, token: SECRET, ...options }),
    )
    return { ...end, isPacked: true }
  },
  async fluent_bit(t) {
    const peer = await ForwardPeer.start(t)
    return farEnd(peer.port, () => peer.events.map(({ record }) => String(record.device)), createFluentBit)
  },
}

async function http(
  t: TestContext,
  open: (url: string, options: DeliveryLimits) => DeliverySink,
  device: RegExp,
): Promise<FarEnd> {
  const peer = await HttpPeer.start(t)
  return farEnd(
    peer.port,
    () => peer.bodies.flatMap((body) => [...body.matchAll(device)].map(([, name = '']) => name)),
    ({ host, port, ...options }) => open(`http://${host}:${port}`, options),
  )
}

function farEnd(
  port: number,
  devices: FarEnd['devices'],
  open: (options: FarEndOptions & Required<Pick<FarEndOptions, 'host' | 'port'>>) => DeliverySink,
): FarEnd {
  return { port, devices, open: (options) => open({ host: '127.0.0.1', port, ...options }) }
}
