// A receiver of remote write that decodes with libraries which know nothing of our encoder.
import { readFileSync } from 'node:fs'
import type { TestContext } from 'node:test'
import protobuf from 'protobufjs'
import SnappyJS from 'snappyjs'
import { HttpPeer } from './http-peer.ts'

const schemas = protobuf.parse(readFileSync(new URL('remote-write.proto', import.meta.url), 'utf8'), { keepCase: true })

/** A sample as it arrived. `bits` are those of the value, high word first. */
export interface ArrivedSample {
  readonly labels: Readonly<Record<string, string>>
  readonly value: number
  readonly timeMs: number
}

/** Label names in the order of the message. */
export interface ArrivedSeries {
  readonly labels: readonly (readonly [name: string, value: string])[]
  readonly samples: readonly { readonly value: number; readonly timeMs: number }[]
}

interface Request1 {
  readonly timeseries: readonly {
    readonly labels: readonly { readonly name: string; readonly value: string }[]
    readonly samples: readonly { readonly value: number; readonly timestamp: number }[]
  }[]
}

/** The series of a body of Remote-Write 1.0. */
function decode1(body: Uint8Array): ArrivedSeries[] {
  const type = schemas.root.lookupType('v1.WriteRequest')
  const message = type.toObject(type.decode(SnappyJS.uncompress(body)), { longs: Number, defaults: true }) as Request1
  return message.timeseries.map(({ labels, samples }) => ({
    labels: labels.map(({ name, value }) => [name, value] as const),
    samples: samples.map(({ value, timestamp }) => ({ value, timeMs: timestamp })),
  }))
}

/** Samples of series, each with its labels. */
export function samplesOf(series: readonly ArrivedSeries[]): ArrivedSample[] {
  return series.flatMap(({ labels, samples }) =>
    samples.map((sample) => ({ ...sample, labels: Object.fromEntries(labels) })),
  )
}

/** A receiver of Remote-Write 1.0, on the loopback interface. */
export class RemoteWritePeer {
  readonly http: HttpPeer

  private constructor(http: HttpPeer) {
    this.http = http
  }

  /** Starts one that ends with the test. */
  static async start(t: TestContext): Promise<RemoteWritePeer> {
    return new RemoteWritePeer(await HttpPeer.start(t))
  }

  /** The series of a body. */
  readonly decode = decode1

  /** The series of all requests that it took. */
  get series(): ArrivedSeries[] {
    return this.http.payloads.flatMap((body) => this.decode(body))
  }

  /** The samples of all requests that it took. */
  get samples(): ArrivedSample[] {
    return samplesOf(this.series)
  }
}
